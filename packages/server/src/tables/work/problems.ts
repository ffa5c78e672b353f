/** What is wrong with some images, while the others are shown. All are counted, and the first are told. */
import { MOST_TABLE_PROBLEMS, type TableProblem } from '@service/contract';

export interface Problems {
  add(problem: TableProblem): void;
  told(): { problems: TableProblem[]; num_problems: number };
}

const keyOf = ({ zarr_url, table, kind }: TableProblem) => `${zarr_url}\n${table ?? ''}\n${kind}`;
const byImage = (one: TableProblem, other: TableProblem) => (keyOf(one) < keyOf(other) ? -1 : 1);

export function createProblems(before: readonly TableProblem[]): Problems {
  const problems = before.slice(0, MOST_TABLE_PROBLEMS);
  let count = before.length;
  return {
    add(problem) {
      count++;
      if (problems.length < MOST_TABLE_PROBLEMS) problems.push(problem);
    },
    // images are read side by side, and the same answer has to be the same text
    told: () => ({ problems: problems.sort(byImage), num_problems: count }),
  };
}
