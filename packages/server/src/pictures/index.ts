export { createPictureMaker } from './maker.ts';
export { pictureRoutes } from './routes.ts';
