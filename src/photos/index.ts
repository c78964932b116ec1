export { takenAtMs } from './photo-time.ts'
export { StoredPhoto } from './schema.ts'
export { Photos, photoFile, photoLimitBytes, photosPath } from './service.ts'
export { UploadPlaces } from './upload-places.ts'
