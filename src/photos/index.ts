export { takenAtMs } from './photo-time.ts'
export { photoRoutes } from './routes.ts'
export { Photos, photoFile, photosFolder, photosPath } from './service.ts'
export { clearUploads } from './upload.ts'
