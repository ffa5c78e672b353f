/**
 * What has to be right before the web server starts, beyond single values; ends with status 2 when something is wrong.
 * Within the service it is the service that ends.
 */
import { ServiceError } from '@service/contract/errors';

import { service } from './mounted.ts';

interface Variable {
  schema: { '~standard': { validate(value: unknown): unknown } };
}
type Environment = Record<string, string | undefined>;

interface Values {
  AUTH_COOKIE_NAME?: string;
  AUTH_COOKIE_SECURE?: boolean;
  AUTH_COOKIE_DOMAIN?: string;
  AUTH_COOKIE_PATH?: string;
  AUTH_COOKIE_SAME_SITE?: string;
}

/** Values that are right by themselves and wrong together. */
export function clashes(values: Values): string[] {
  const problems: string[] = [];
  if (values.AUTH_COOKIE_NAME?.startsWith('__Host-')) {
    const because = `because the name ${values.AUTH_COOKIE_NAME} begins with __Host-.`;
    if (values.AUTH_COOKIE_DOMAIN !== undefined) problems.push(`AUTH_COOKIE_DOMAIN: leave it unset, ${because}`);
    if (values.AUTH_COOKIE_SECURE === false) problems.push(`AUTH_COOKIE_SECURE: it cannot be false, ${because}`);
    if (values.AUTH_COOKIE_PATH !== '/') problems.push(`AUTH_COOKIE_PATH: it has to be "/", ${because}`);
  }
  if (values.AUTH_COOKIE_SAME_SITE === 'none' && values.AUTH_COOKIE_SECURE === false)
    problems.push(
      'AUTH_COOKIE_SECURE: it cannot be false with AUTH_COOKIE_SAME_SITE=none; browsers drop such a cookie.',
    );
  return problems;
}

function problemsOf(variables: Record<string, Variable>, environment: Environment): string[] {
  const values: Record<string, unknown> = {};
  const problems = Object.entries(variables).flatMap(([name, { schema }]) => {
    const read = schema['~standard'].validate(environment[name]) as {
      value?: unknown;
      issues?: { message: string }[];
    };
    values[name] = read.value;
    return (read.issues ?? []).map(({ message }) => `${name}: ${message}`);
  });
  return [...problems, ...clashes(values)];
}

/** The service knows it by its kind: the class of the built client is another one than its own. */
class WrongSettings extends ServiceError {
  readonly kind = 'wrong-web-settings';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The web server cannot start.\n${problems.map((one) => `  ${one}`).join('\n')}`);
    this.problems = problems;
  }
}

export function endOnProblems(variables: Record<string, Variable>, environment: Environment): void {
  const problems = problemsOf(variables, environment);
  if (problems.length === 0) return;
  const wrong = new WrongSettings(problems);
  if (service !== undefined) throw wrong;
  console.error(wrong.message);
  process.exit(2);
}
