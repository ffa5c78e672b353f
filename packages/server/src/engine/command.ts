/**
 * The words of a task's command, split as a shell splits them: `'/my env/python' -u "a b.py"` has three. No shell is
 * involved, so nothing in it has another meaning.
 */
import { commandProblem } from '@service/contract';

const PIECE = /'([^']*)'|"([^"]*)"|([^\s'"]+)/y;

export function commandWords(command: string | null): { words: string[] } | { problem: string } {
  if (command === null || command.trim() === '') return { problem: 'The task has no command for this step.' };
  const problem = commandProblem(command);
  if (problem !== undefined) return { problem: `${problem} The command is: ${command}` };
  const words: string[] = [];
  let open = false;
  for (let at = 0; at < command.length;) {
    if (/\s/.test(command[at]!)) {
      open = false;
      at += 1;
      continue;
    }
    PIECE.lastIndex = at;
    const match = PIECE.exec(command);
    if (!match) return { problem: `The command has a quotation mark without its other half: ${command}` };
    const piece = match[1] ?? match[2] ?? match[3] ?? '';
    if (open) words[words.length - 1] += piece;
    else words.push(piece);
    open = true;
    at = PIECE.lastIndex;
  }
  return { words };
}
