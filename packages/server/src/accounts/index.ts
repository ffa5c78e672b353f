export {
  createAdministrator,
  createResourceAndProfile,
  defaultProfile,
  defaultResource,
  ensureDefaultGroup,
  findPython,
  UnusableData,
} from './first-data.ts';
export { requireDefaultGroup, requireMembership } from './groups.ts';
export { createProvider, type Provider } from './oauth/provider.ts';
export { oauthRoutes } from './oauth/routes.ts';
export { preventSubmissions, usableProfile } from './resources.ts';
export { accountRoutes } from './routes.ts';
export { authenticator, beginSession } from './sign-in.ts';
export { knownGroupIds } from './store/groups.ts';
export { countResources, findProfileOf, findResource, knownResourceIds } from './store/resources.ts';
export { findAdministrator, superuserExists } from './store/users.ts';
export { createTokens } from './tokens.ts';
export { createUnderWay } from './under-way.ts';
