export { activityHandler } from './carry-out.ts';
export { CoreTaskConflict, syncCoreTasks } from './core-tasks.ts';
export { adminTaskRoutes } from './routes/admin.ts';
export { lifecycleRoutes } from './routes/lifecycle.ts';
export { taskRoutes } from './routes/tasks.ts';
export { recentActivities } from './store/activities.ts';
export { countCoreTasks } from './store/core-tasks.ts';
export { ACTIVITY_WORK } from './store/lifecycle.ts';
