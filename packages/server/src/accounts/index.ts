export {
  createAdministrator,
  createResourceAndProfile,
  defaultProfile,
  defaultResource,
  ensureDefaultGroup,
  findPython,
} from './first-data.ts';
export { requireDefaultGroup, requireMembership } from './groups.ts';
export { createProvider, type Provider } from './oauth/provider.ts';
export { preventSubmissions, usableProfile } from './resources.ts';
export { groupRoutes } from './routes/groups.ts';
export { oauthRoutes } from './routes/oauth.ts';
export { resourceRoutes } from './routes/resources.ts';
export { sessionRoutes, tokenRoutes } from './routes/sessions.ts';
export { userRoutes } from './routes/users.ts';
export { authenticator, beginSession } from './sign-in.ts';
export { knownGroupIds } from './store/groups.ts';
export { countResources, findProfileOf, findResource, knownResourceIds, listResources } from './store/resources.ts';
export { findAdministrator, superuserExists } from './store/users.ts';
export { createTokens } from './tokens.ts';
export { createUnderWay, type UnderWay } from './under-way.ts';
export { viewerFolders } from './viewer-paths.ts';
