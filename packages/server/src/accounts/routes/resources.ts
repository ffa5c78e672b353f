/** Resources and profiles, on the wire. */
import { accounts } from '@service/contract';

import type { Api } from '../../http/index.ts';
import * as resources from '../resources.ts';
import { listProfiles, listResources } from '../store/resources.ts';
import type { AccountParts } from './sessions.ts';

export function resourceRoutes(api: Api, { db, app }: AccountParts): void {
  const backend = app.SERVICE_RUNNER_BACKEND;

  api.serve(accounts.listResources, () => listResources(db));
  api.serve(accounts.createResource, ({ by, body }) => resources.createResource(db, by, body, backend));
  api.serve(accounts.getResource, ({ params }) => resources.readResource(db, params.resource_id));
  api.serve(accounts.replaceResource, ({ by, params, body }) =>
    resources.replaceResource(db, by, params.resource_id, body, backend),
  );
  api.serve(accounts.deleteResource, ({ by, params }) => resources.deleteResource(db, by, params.resource_id));
  api.serve(accounts.listResourceProfiles, ({ params }) => resources.profilesOf(db, params.resource_id));
  api.serve(accounts.createProfile, ({ by, params, body }) =>
    resources.createProfile(db, by, params.resource_id, body),
  );
  api.serve(accounts.listProfiles, () => listProfiles(db));
  api.serve(accounts.getProfile, ({ params }) => resources.readProfile(db, params.profile_id));
  api.serve(accounts.replaceProfile, ({ by, params, body }) =>
    resources.replaceProfile(db, by, params.profile_id, body),
  );
  api.serve(accounts.deleteProfile, ({ by, params }) => resources.deleteProfile(db, by, params.profile_id));
}
