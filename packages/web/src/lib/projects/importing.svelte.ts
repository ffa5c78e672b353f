/**
 * Takes in a workflow from a file, a template or a copy. When tasks are missing in the wanted version it keeps what the API
 * offers instead, until versions are chosen and it is sent again.
 *
 *     const importing = createImport<Workflow>();
 *     const made = await importing.run((versions) => call('projects.importWorkflow', …));
 */
import { createWork, type Work } from '../ui/work.svelte.ts';
import { isComplete, type Match, matchesOf, type Versions } from './matches.ts';
import { about } from './refusals.ts';

export interface Importing<T> {
  readonly work: Work;
  /** Undefined as long as no choice is needed. */
  readonly matches: readonly Match[] | undefined;
  readonly versions: Versions;
  readonly older: boolean;
  /** Nothing is left to choose. */
  readonly isReady: boolean;
  choose(versions: Versions, older: boolean): void;
  /** Undefined when it was refused or needs a choice. */
  run(send: (versions: Versions) => Promise<T>): Promise<T | undefined>;
  /** Back to where the file is chosen. */
  forget(): void;
}

export function createImport<T>(): Importing<T> {
  const work = createWork(['name', 'file']);
  let matches = $state.raw<readonly Match[]>();
  let versions = $state.raw<Versions>({});
  let older = $state(false);

  function forget() {
    matches = undefined;
    versions = {};
    older = false;
    work.clear();
  }

  return {
    work,
    get matches() {
      return matches;
    },
    get versions() {
      return versions;
    },
    get older() {
      return older;
    },
    get isReady() {
      return matches === undefined || isComplete(matches, versions);
    },
    choose(chosen, withOlder) {
      versions = chosen;
      older = withOlder;
    },
    async run(send) {
      let made: T | undefined;
      await work.run(async () => {
        try {
          made = await about('name', send(versions));
        } catch (error) {
          const found = matchesOf(error);
          if (found === undefined) throw error;
          matches = found;
          versions = {};
        }
      });
      return made;
    },
    forget,
  };
}
