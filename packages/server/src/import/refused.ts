/** An import that was not begun, or was undone. The message is all that an operator needs: why, and what to do. */
import { ServiceError } from '@service/contract/errors';

export class ImportRefused extends ServiceError {
  readonly kind = 'import-refused';
}
