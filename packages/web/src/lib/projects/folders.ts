/**
 * Where the images of a new dataset will lie.
 *
 *     folderPreview({ base: '/data/anna', subfolder: '', project: { id: 3, name: 'Screen 7' }, name: 'Plate A' })
 *     // /data/anna/fractal/3_screen_7/‹number›_plate_a
 */
import { folderPart } from '@service/contract/names';

/** A literal name on disk that other programs know. */
const FOLDER = 'fractal';
/** The number of a dataset is known when it is made. */
const NUMBER = '‹number›';

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
  const chosen = `${FOLDER}/${project.id}_${folderPart(project.name)}/${NUMBER}_${folderPart(name) || '‹name›'}`;
  const below = subfolder.trim() === '' ? chosen : parts(subfolder.trim()).join('/');
  return [base.replace(/\/+$/, ''), below].filter((part) => part !== '').join('/');
}
