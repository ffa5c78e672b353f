/**
 * Commands that belong together, run where the resource wants them: one after the other, or all in one Slurm job.
 *
 *     await runScript(run, site.slurm, [{ step: 'install', commands: [{ command: ['pixi', 'install'] }] }]);
 */
import { installFailure } from './install-failure.ts';
import type { ProcedureRun } from './procedure-run.ts';
import { runInSlurm, type SlurmJob } from './slurm-job.ts';
import type { ScriptCommand } from './slurm-script.ts';

export interface ScriptPart {
  step: string;
  commands: ScriptCommand[];
}

async function runHere(run: ProcedureRun, { command, env, output }: ScriptCommand): Promise<void> {
  const quiet = output !== undefined;
  const printed = await run.command(command, { ...(env && { env }), quiet, explain: installFailure });
  if (output !== undefined) await run.host.writeText(output, printed);
}

export async function runScript(run: ProcedureRun, slurm: SlurmJob | null, parts: ScriptPart[]): Promise<void> {
  for (const [index, { step, commands }] of parts.entries()) {
    await run.step(step, async () => {
      if (slurm === null) for (const one of commands) await runHere(run, one);
      // the job has the commands of all parts: waiting in the queue once is enough
      else if (index === 0)
        await runInSlurm(
          run,
          slurm,
          parts.flatMap((part) => part.commands),
        );
    });
  }
}
