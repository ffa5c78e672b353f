/** What somebody should know before they run a workflow. */
import { z } from 'zod';

import { answer } from '../wire/scalars.ts';

/** Lines of a task that you have not run as they are now, and who wrote them. */
export const ShellChange = z
  .object({
    workflowtask_id: answer.integer(),
    source: z.enum(['extra_lines', 'command']).meta({
      description:
        'extra_lines of meta_parallel and meta_non_parallel, or the command of a task that somebody added by hand.',
    }),
    added: z.array(answer.text()).meta({ description: 'Lines that your last run did not have.' }),
    removed: z
      .array(answer.text())
      .meta({ description: 'Lines that your last run had and the next one will not have.' }),
    changed_by: answer.text().nullable().meta({ description: 'Their e-mail address; null where nobody knows.' }),
    timestamp_changed: answer.time().nullable(),
    timestamp_last_run: answer.time().nullable().meta({ description: 'Null: you have not run this task yet.' }),
  })
  .meta({ id: 'ShellChange' });
export type ShellChange = z.output<typeof ShellChange>;

export const PreCheck = z.object({ shell_changes: z.array(ShellChange) }).meta({ id: 'PreCheck' });
export type PreCheck = z.output<typeof PreCheck>;
