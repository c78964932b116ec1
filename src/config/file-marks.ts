import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expandCredentials } from '../platform/secrets/secret-file.ts'
import { bare, facts, fixedKeys, repeated, type Schema } from './keys.ts'
import { kinds } from './kinds.ts'
import { type Config, configSchema } from './schema.ts'
import { readSources } from './sources.ts'

/** SHA-256 of the content of every file that the config names, by key path; null when it cannot be read. */
export type FileMarks = ReadonlyMap<string, string | null>

/**
 * Reads the files that the config names (passwords, keys, certificates, authorities). A reload compares their content, because a
 * corrected password changes no key of the config. Key paths are those of a plan (`cameras[id=2].passwordFile`).
 */
export function fileMarks(config: Config, env: NodeJS.ProcessEnv = process.env): FileMarks {
  const marks = [...namedFiles(config, configSchema, '')].map(
    ([path, file]) => [path, markOf(expandCredentials(file, env))] as const,
  )
  return new Map(marks)
}

/**
 * Returns the files that make up the settings of a gateway, as absolute paths. These are the config, its drop-ins, and the files
 * that it names (passwords, keys, certificates, authorities). `file`: the config file; undefined for the embedded defaults.
 */
export function settingsFiles(
  config: Config,
  file: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): string[] {
  const own = file === undefined ? [] : readSources(file, process.cwd()).files
  const named = [...namedFiles(config, configSchema, '')].map(([, path]) => expandCredentials(path, env))
  return [...new Set([...own, ...named].map((path) => resolve(path)))]
}

/** Returns key paths of files whose content changed. New and removed keys are in the plan. */
export function changedFiles(old: FileMarks, next: FileMarks): string[] {
  return [...next]
    .filter(([path, mark]) => old.has(path) && old.get(path) !== mark)
    .map(([path]) => path)
    .sort()
}

/** Large files: a reload follows them, but a backup of the settings leaves them out. */
const followed: ReadonlySet<string> = new Set(['console.objectDetection.modelFile'])

function* namedFiles(value: unknown, schema: Schema, path: string): Generator<[path: string, file: string]> {
  if (value === null || value === undefined) return
  const what = kinds.get(bare(schema))?.path
  if (typeof value === 'string') {
    if ((what === 'secret' || what === 'file') && !followed.has(path)) yield [path, value]
    return
  }
  const free = repeated(schema)
  if (Array.isArray(value)) {
    const identity = facts.get(schema)?.identity
    for (const [n, entry] of value.entries()) {
      const name = identity ? `${identity}=${String((entry as Record<string, unknown>)[identity])}` : n
      if (free) yield* namedFiles(entry, free.of, `${path}[${name}]`)
    }
    return
  }
  const keys = fixedKeys(schema)
  for (const [key, inner] of Object.entries(value)) {
    const of = keys ? keys[key] : free?.of
    if (of) yield* namedFiles(inner, of, path ? `${path}.${key}` : key)
  }
}

function markOf(file: string): string | null {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('hex')
  } catch {
    return null
  }
}
