/**
 * Takes in a workflow from a file, a template or a copy. When tasks are missing in the wanted version it keeps what the API
 * offers instead, until versions are chosen and it is sent again.
 *
 *     const importing = createImport<Workflow>();
 *     const made = await importing.run((versions) => call('projects.importWorkflow', …));
 */
import { createAction, type Action } from '../ui/action.svelte.ts';
import { isComplete, type Match, matchesOf, type Versions } from './matches.ts';
import { about } from '../api/problem.ts';

export interface Importing<T> {
  readonly action: Action;
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
  const action = createAction(['name', 'file']);
  let matches = $state.raw<readonly Match[]>();
  let versions = $state.raw<Versions>({});
  let older = $state(false);

  function forget() {
    matches = undefined;
    versions = {};
    older = false;
    action.clear();
  }

  return {
    action,
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
      await action.run(async () => {
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
