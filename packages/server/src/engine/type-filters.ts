/**
 * Which types of images reach a task of a workflow.
 *
 *     typeFiltersFlow([{ id: 1, type_filters: {}, input_types: {}, output_types: { is_3D: true } }, …])
 */

export type Flags = Record<string, boolean>;

/** The first type that the filters want otherwise than the task does. */
export const contradiction = (inputTypes: Flags, typeFilters: Flags): string | undefined =>
  Object.keys(typeFilters).find((key) => Object.hasOwn(inputTypes, key) && inputTypes[key] !== typeFilters[key]);

interface FilteredTask {
  id: number;
  type_filters: Flags;
  input_types: Flags;
  output_types: Flags;
}

/** For each task: what the tasks before it made, what it takes, what it makes. Later tasks overrule earlier ones. */
export function typeFiltersFlow(tasks: FilteredTask[]) {
  let current: Flags = {};
  return tasks.map((task) => {
    const step = {
      workflowtask_id: task.id,
      current_type_filters: current,
      input_type_filters: { ...task.input_types, ...task.type_filters },
      output_type_filters: task.output_types,
    };
    current = { ...current, ...task.output_types };
    return step;
  });
}
