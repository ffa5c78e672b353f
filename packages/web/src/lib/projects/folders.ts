/**
 * Where the images of a new dataset will lie.
 *
 *     folderPreview({ base: '/data/anna', subfolder: '', project: { id: 3, name: 'Screen 7' }, name: 'Plate A' })
 *     // /data/anna/fractal/3_screen_7/‹number›_plate_a
 */

/** A literal name on disk that other programs know. */
const FOLDER = 'fractal';
const UNSAFE = /[!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~ \t\n\r\v\f]/g;
/** The number of a dataset is known when it is made. */
const NUMBER = '‹number›';

const sanitised = (name: string) => name.trim().toLowerCase().replace(UNSAFE, '_');

const parts = (path: string) => path.split('/').filter((part) => part !== '' && part !== '.');

export function subfolderProblem(subfolder: string): string | undefined {
  const text = subfolder.trim();
  if (text.startsWith('/')) return 'Enter a folder below the project folder, without / in front.';
  if (text.split('/').includes('..')) return 'Write the folder without "..".';
  return undefined;
}

interface Planned {
  base: string;
  /** Empty: the folder that the service chooses. */
  subfolder: string;
  project: { id: number; name: string };
  name: string;
}

export function folderPreview({ base, subfolder, project, name }: Planned): string {
  const chosen = `${FOLDER}/${project.id}_${sanitised(project.name)}/${NUMBER}_${sanitised(name) || '‹name›'}`;
  const below = subfolder.trim() === '' ? chosen : parts(subfolder.trim()).join('/');
  return [base.replace(/\/+$/, ''), below].filter((part) => part !== '').join('/');
}
