/**
 * Commands that belong together, run where the place wants them: one after the other, or all in one Slurm job.
 *
 *     await runScript(run, place.slurm, [{ step: 'install', commands: [{ command: ['pixi', 'install'] }] }]);
 */
import type { Run } from './run.ts';
import { runInSlurm, type SlurmPlace } from './slurm-job.ts';
import type { ScriptCommand } from './slurm-step.ts';

export interface ScriptPart {
  step: string;
  commands: ScriptCommand[];
}

async function runHere(run: Run, { command, env, output }: ScriptCommand): Promise<void> {
  const printed = await run.command(command, { ...(env && { env }), quiet: output !== undefined });
  if (output !== undefined) await run.host.writeText(output, printed);
}

export async function runScript(run: Run, slurm: SlurmPlace | null, parts: ScriptPart[]): Promise<void> {
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
