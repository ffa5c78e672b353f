/**
 * What each operation asks of a personal access token. Every operation is listed: who adds one decides here, too, what a
 * token must allow.
 */
import { describe, expect, it } from 'vitest';

import { accounts, jobs, type NeededScope, type Operation, projects, tasks } from '../src/index.ts';

const operations = [accounts, jobs, projects, tasks]
  .flatMap((area) => Object.values(area) as (Operation | (() => Operation))[])
  .filter((one): one is Operation => typeof one === 'object' && one.access !== 'anonymous');

const LISTED: Record<NeededScope, string> = {
  // makes tokens, creates or changes accounts with their passwords, or acts as somebody
  session: `
    create_token
    impersonate
    impersonate_by_post
    list_tokens
    register_user
    revoke_token
    sign_out_everywhere
    sign_out_user_everywhere
    update_user
  `,
  run: `
    admin_stop_job
    admin_stop_job_by_post
    stop_job
    stop_job_by_id
    stop_job_by_post
    submit_job
  `,
  everything: `
    accept_project_invitation
    add_user_to_group
    admin_deactivate_task_group
    admin_delete_task_group
    admin_make_core_task_group
    admin_make_core_tasks
    admin_make_not_core_task_group
    admin_make_not_core_tasks
    admin_reactivate_task_group
    admin_reset_task_group_pip
    admin_reset_task_group_pixi
    admin_update_job
    admin_update_task_group
    admin_verify_project_link
    change_images
    collect_tasks_custom
    collect_tasks_pip
    collect_tasks_pixi
    create_dataset
    create_group
    create_image
    create_profile
    create_project
    create_resource
    create_task
    create_workflow
    create_workflow_tasks
    create_workflow_template
    deactivate_task_group
    delete_dataset
    delete_group
    delete_image
    delete_profile
    delete_project
    delete_resource
    delete_task
    delete_task_group
    delete_task_group_by_delete
    delete_workflow
    delete_workflow_task
    delete_workflow_template
    import_dataset
    import_workflow
    import_workflow_from_template
    import_workflow_template
    invite_project_guest
    leave_project
    reactivate_task_group
    remove_project_guest
    remove_user_from_group
    replace_profile
    replace_resource
    replace_workflow_task
    set_user_groups
    star_dataset
    star_project
    star_workflow
    transfer_project
    unstar_dataset
    unstar_project
    unstar_workflow
    update_current_user
    update_dataset
    update_group
    update_image
    update_project
    update_project_guest
    update_task
    update_task_group
    update_workflow
    update_workflow_task
    update_workflow_template
  `,
  read: `
    admin_download_job
    admin_get_job
    admin_get_project
    admin_get_task_group
    admin_list_jobs
    admin_list_project_links
    admin_list_projects
    admin_list_task_group_activities
    admin_list_task_groups
    admin_list_tasks
    admin_overview
    count_image_groups
    current_user
    current_user_allowed_viewer_paths
    current_user_profile_info
    download_job
    export_audit
    export_dataset
    export_images
    export_workflow
    export_workflow_template
    get_dataset
    get_dataset_contents
    get_group
    get_job
    get_picture
    get_plate_picture
    get_plate_picture_info
    get_profile
    get_project
    get_project_access
    get_resource
    get_table
    get_table_groups
    get_task
    get_task_group
    get_task_group_activity
    get_user
    get_workflow
    get_workflow_task
    get_workflow_template
    image_history
    image_log
    job_events
    job_queue
    job_timeline
    job_workflow
    latest_job
    latest_job_of_all
    list_all_datasets
    list_all_jobs
    list_audit
    list_datasets
    list_groups
    list_history_runs
    list_history_units
    list_imports
    list_jobs
    list_profiles
    list_project_guests
    list_project_invitations
    list_projects
    list_resource_profiles
    list_resources
    list_tables
    list_task_group_activities
    list_task_groups
    list_tasks
    list_users
    list_workflow_jobs
    list_workflow_templates
    list_workflows
    logout
    non_processed_images
    pre_check
    project_events
    query_accounting
    query_accounting_by_get
    query_accounting_slurm
    query_image_status
    query_images
    query_table
    query_table_groups
    search
    settings_app
    settings_database
    settings_email
    settings_oauth
    squeue
    type_filters_flow
    unit_log
    users_csv
    verify_unique_types
    verify_unique_types_by_get
    version_update_candidates
  `,
};

const listed = (scope: NeededScope) => LISTED[scope].trim().split(/\s+/);

describe('the scope of operations', () => {
  it.each(Object.keys(LISTED) as NeededScope[])('%s', (scope) => {
    const found = operations.filter((one) => one.scope === scope).map((one) => one.id);
    expect(found.sort()).toEqual(listed(scope).sort());
  });

  it('reads by POST only what takes a query as its body', () => {
    const posts = operations.filter((one) => one.scope === 'read' && one.method !== 'GET').map((one) => one.id);
    expect(posts.sort()).toEqual([
      'count_image_groups',
      'export_images',
      'image_log',
      'logout',
      'non_processed_images',
      'query_accounting',
      'query_accounting_slurm',
      'query_image_status',
      'query_images',
      'query_table',
      'query_table_groups',
      'verify_unique_types',
    ]);
  });

  it('is never read where a GET changes something', () => {
    expect(operations.filter((one) => one.unsafeGet && one.scope === 'read')).toEqual([]);
  });
});
