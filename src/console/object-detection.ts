import { readFileSync, statSync } from 'node:fs'
import { readFile, realpath, stat } from 'node:fs/promises'
import type { Checked, Config, Problem } from '../config/index.ts'
import { AppError } from '../errors/index.ts'
import type { FileAnswer } from '../http/index.ts'
import { errorCode } from '../platform/faults.ts'
import type { Logger } from '../platform/log.ts'
import { type ModelFacts, ModelFault, readModel } from './detection-model.ts'
import type { ObjectDetection } from './schema.ts'

type Settings = Config['console']['objectDetection']
type Model = ModelFacts & { readonly sha256: string; readonly sizeBytes: number; readonly path: string }
type Read = { readonly mark: string; readonly model: Promise<Model | string> }

/** A larger file would fill the memory of the tablet that it is loaded into. */
const largestBytes = 256 * 1024 * 1024
const mostLabels = 4096

/**
 * The model that browsers find objects in live pictures with: a file that the admin put on the box. It is read when it is asked
 * for, and again when the file is another one.
 */
export class DetectionModels {
  readonly #needs: { readonly settings: () => Settings; readonly log: Logger }
  #read: Read | undefined

  constructor(needs: { readonly settings: () => Settings; readonly log: Logger }) {
    this.#needs = needs
  }

  /** Returns what a browser has to know. While it is switched off, no file is looked at. */
  async describe(): Promise<Omit<ObjectDetection, 'success'>> {
    const { enabled, modelFile, ...limits } = this.#needs.settings()
    if (!enabled || modelFile === null) return { enabled, ...limits, model: null, problem: null }
    const found = await this.#model(modelFile)
    // The path is for the log and for `config check`: readers of the page need no names of folders.
    if (typeof found === 'string') return { enabled, ...limits, model: null, problem: found }
    const { path: _, ...model } = found
    return { enabled, ...limits, model: { ...model, labels: model.labels && [...model.labels] }, problem: null }
  }

  /** Returns the file of the model with this hash. Throws NOT_FOUND when it is another one or switched off. */
  async file(sha256: string): Promise<FileAnswer> {
    const { enabled, modelFile } = this.#needs.settings()
    const found = enabled && modelFile !== null ? await this.#model(modelFile) : undefined
    if (typeof found !== 'object' || found.sha256 !== sha256) throw AppError.notFound('Model')
    return { path: found.path, mediaType: 'application/octet-stream', sizeBytes: found.sizeBytes, sha256 }
  }

  async #model(file: string): Promise<Model | string> {
    const mark = `${file} ${await markOf(file)} ${await markOf(labelsFileOf(file))}`
    if (this.#read?.mark !== mark) this.#read = { mark, model: this.#readModel(file) }
    return this.#read.model
  }

  async #readModel(file: string): Promise<Model | string> {
    try {
      const path = await realpath(file)
      const { size } = await stat(path)
      if (size > largestBytes) throw new ModelFault(tooLarge)
      const bytes = await readFile(path)
      const facts = readModel(bytes)
      const digest = await crypto.subtle.digest('SHA-256', bytes)
      const labels = await readFile(labelsFileOf(file), 'utf8').then(labelsIn, () => facts.labels)
      return { ...facts, labels, sha256: Buffer.from(digest).toString('hex'), sizeBytes: bytes.length, path }
    } catch (error) {
      const problem = problemOf(error)
      this.#needs.log.warn({ file, problem }, 'the model of console.objectDetection cannot be used')
      return problem
    }
  }
}

const tooLarge = 'is larger than 256 MiB'

const problemOf = (error: unknown): string => {
  if (error instanceof ModelFault) return `The file ${error.message}.`
  return errorCode(error) === 'ENOENT' ? 'There is no such file.' : 'The file cannot be read.'
}

const markOf = (file: string): Promise<string> =>
  stat(file).then(
    ({ ino, size, mtimeMs, ctimeMs }) => `${ino} ${size} ${mtimeMs} ${ctimeMs}`,
    () => 'absent',
  )

/** Labels that the model does not have in itself: `NAME.txt` beside `NAME.onnx`, one on a line. */
const labelsFileOf = (file: string): string => `${file.replace(/\.onnx$/i, '')}.txt`

const labelsIn = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim().slice(0, 100))
    .filter((line, n, all) => line !== '' || n < all.length - 1)
    .slice(0, mostLabels)

/** Finds a model that is switched on and cannot be used; the gateway starts with it. A missing file is reported elsewhere. */
export function modelFaults(config: Config, { faults, placeOf }: Pick<Checked, 'faults' | 'placeOf'>): Problem[] {
  const { enabled, modelFile } = config.console.objectDetection
  const keys = ['console', 'objectDetection', 'modelFile']
  const path = keys.join('.')
  if (!enabled || modelFile === null || faults.some((fault) => fault.path === path)) return []
  try {
    if (statSync(modelFile).size > largestBytes) throw new ModelFault(tooLarge)
    readModel(readFileSync(modelFile))
    return []
  } catch (error) {
    if (!(error instanceof ModelFault)) throw error
    return [{ place: placeOf(keys), path, message: `${modelFile} ${error.message}` }]
  }
}
