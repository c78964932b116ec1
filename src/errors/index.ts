export { AppError, type AppErrorOptions, type FieldProblem, type MediaRemoval } from './app-error.ts'
export { type CatalogueEntry, catalogue, type ErrorCode } from './catalogue.ts'
export { EXIT_CONFIG, EXIT_USAGE, ExitError } from './exit-error.ts'
export { KnownNames, nearestNames } from './nearest.ts'
