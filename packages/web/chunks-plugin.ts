/**
 * Cuts the client into few files: what every page loads, what many pages load, what a few pages share and is worth a file,
 * and each page's own. Left alone, the builder makes a file for each set of pages that share anything, most of a few lines.
 *
 * What a module imports is used by at least the pages that use the module. So the files come one before the other, and none
 * has to be loaded for the sake of another page.
 */
import type { Plugin, Rolldown } from 'vite';

/** The modules of a build and what they import. */
export type Graph = Pick<Rolldown.PluginContext, 'getModuleIds'> & {
  getModuleInfo(
    id: string,
  ): Pick<Rolldown.ModuleInfo, 'code' | 'dynamicallyImportedIds' | 'importedIds' | 'isEntry'> | null;
};

/** Something that is used by this many pages is loaded by all that use anything of this kind. */
const MANY_PAGES = 8;
/** What fewer pages share is too, when it is small: bytes of source for each of them. */
const SMALL_FOR_A_PAGE = 2000;
const FEW_PAGES = 3;

/** Kit's first script, which tells what the page knows before any other module looks for it: nothing else may come with it. */
const FIRST = 'first';
const FRAME = 'frame';
const COMMON = 'common';
const SHARED = 'shared-';

const STYLE = /\.css$/;
/** Kit numbers layouts and pages; the first two are of every page: the outermost layout, and the page of its errors. */
const OF_ONE_PAGE = /[\\/]nodes[\\/](?![01]\.js$)\d+\.js$/;
const FIRST_SCRIPT = /[\\/]client[\\/]entry\.js$/;
/** Loaded by it at once. */
const RUNTIME = /[\\/]client[\\/]client-entry\.js$/;

interface Part {
  /** Everything that comes with it. */
  modules: Set<string>;
  /** What it loads when it is needed. */
  later: Set<string>;
}

function partOf(graph: Graph, starts: string[]): Part {
  const modules = new Set<string>();
  const later = new Set<string>();
  const left = [...starts];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    const info = graph.getModuleInfo(id);
    if (info === null || modules.has(id)) continue;
    modules.add(id);
    left.push(...info.importedIds);
    for (const one of info.dynamicallyImportedIds) later.add(one);
  }
  return { modules, later };
}

/** Everything that is loaded by itself: pages, and parts that are loaded later, each under its first module. */
function partsOf(graph: Graph, frame: Part): Map<string, Part> {
  const parts = new Map<string, Part>();
  const left = [...frame.later];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    if (parts.has(id) || frame.modules.has(id)) continue;
    const part = partOf(graph, [id]);
    parts.set(id, part);
    left.push(...part.later);
  }
  return parts;
}

/** The parts that load a module, without those that are only loaded by parts that have it already. */
function usersOf(frame: Part, parts: Map<string, Part>): Map<string, Set<string>> {
  const loaders = new Map<string, Part[]>();
  for (const part of [frame, ...parts.values()])
    for (const id of part.later) loaders.set(id, [...(loaders.get(id) ?? []), part]);
  const users = new Map<string, Set<string>>();
  for (const [part, { modules }] of parts)
    for (const id of modules) {
      if (frame.modules.has(id) || loaders.get(part)!.every((loader) => loader.modules.has(id))) continue;
      users.set(id, (users.get(id) ?? new Set()).add(part));
    }
  return users;
}

/** The name of the file of each module; modules without one, those of a single page, are left to the builder. */
export function cut(graph: Graph): Map<string, string> {
  const ids = [...graph.getModuleIds()];
  const isEntry = (id: string) => graph.getModuleInfo(id)?.isEntry === true;
  const frame = partOf(
    graph,
    ids.filter((id) => (isEntry(id) && !OF_ONE_PAGE.test(id)) || RUNTIME.test(id)),
  );
  const parts = partsOf(graph, frame);
  const pagesOf = (users: Iterable<string>) => [...users].filter((one) => OF_ONE_PAGE.test(one)).length;
  const allPages = pagesOf(parts.keys());

  const first = partOf(
    graph,
    ids.filter((id) => FIRST_SCRIPT.test(id)),
  ).modules;
  const names = new Map<string, string>();
  // Kit looks up what its scripts load later in the files of these scripts, so they keep them
  for (const id of frame.modules) if (!isEntry(id)) names.set(id, FRAME);
  for (const id of first) if (!FIRST_SCRIPT.test(id)) names.set(id, FIRST);
  const groups = new Map<string, { users: Set<string>; modules: Set<string> }>();
  for (const [id, users] of usersOf(frame, parts)) {
    if (users.size < 2) continue;
    const key = [...users].sort().join('\n');
    const group = groups.get(key) ?? { users, modules: new Set() };
    groups.set(key, group);
    group.modules.add(id);
  }

  const importsOf = (id: string) => graph.getModuleInfo(id)!.importedIds.filter((one) => graph.getModuleInfo(one));
  const bytesOf = (id: string) => graph.getModuleInfo(id)!.code?.length ?? 0;
  /** What it imports is in the same group or in one that was named before. */
  function nameOf({ users, modules }: { users: Set<string>; modules: Set<string> }, own: string): string {
    const pages = pagesOf(users);
    if (pages > allPages / 2) return FRAME;
    if (pages >= MANY_PAGES) return COMMON;
    const bytes = [...modules].reduce((sum, id) => sum + bytesOf(id), 0);
    if (pages < FEW_PAGES || bytes >= pages * SMALL_FOR_A_PAGE) return own;
    const isBefore = (id: string) => modules.has(id) || [FIRST, FRAME, COMMON].includes(names.get(id)!);
    return [...modules].flatMap(importsOf).every(isBefore) ? COMMON : own;
  }
  const mostUsedFirst = [...groups.values()].sort((a, b) => b.users.size - a.users.size);
  for (const [at, group] of mostUsedFirst.entries()) {
    const name = nameOf(group, `${SHARED}${at}`);
    // styles of a few components are smaller than the request for them
    const ofStyles = name.startsWith(SHARED) && pagesOf(group.users) > 1 ? COMMON : name;
    for (const id of group.modules) names.set(id, STYLE.test(id) ? ofStyles : name);
  }
  return names;
}

/** The plugin, and the rules that it fills in when all modules are known. */
export function chunks(): { plugin: Plugin; groups: Rolldown.CodeSplittingGroup[] } {
  let names = new Map<string, string>();
  return {
    plugin: {
      name: 'chunks',
      applyToEnvironment: ({ name }) => name === 'client',
      buildEnd() {
        names = cut(this);
      },
    },
    // each takes what it imports with it, so what comes before goes first; and all after Kit's own
    groups: [FIRST, FRAME, COMMON, SHARED].map((debugName, at) => ({
      debugName,
      name: (id) => (names.get(id)?.startsWith(debugName) ? names.get(id) : undefined),
      priority: -1 - at,
    })),
  };
}
