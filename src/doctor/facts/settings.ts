import { readdirSync, type Stats, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Checked, type Config, formatProblem, settingsFiles } from '../../config/index.ts'
import { modelFaults } from '../../console/index.ts'
import type { ConfigFacts, FileFacts } from '../findings/settings.ts'

export function configFacts(checked: Checked, file: string | undefined): ConfigFacts {
  const { config } = checked
  const ofPages = config ? modelFaults(config, checked) : []
  return {
    file: file ?? null,
    problems: [...checked.problems, ...checked.faults, ...ofPages].map(formatProblem),
    // Warnings about files that everybody may read come from `fileFacts`.
    warnings: checked.warnings.filter(({ message }) => !message.includes('chmod')).map(formatProblem),
  }
}

type Who = { readonly uid: number; readonly gid: number }

/** Looks at the files of the config and at the keys, as far as this process may. `who`: the user that the gateway runs as. */
export function fileFacts(config: Config, file: string | undefined, who: Who): FileFacts[] {
  const keys = namesIn(join(config.dataDir, 'keys')).map((name) => join(config.dataDir, 'keys', name))
  const secret = new Set([...keys, ...secretsIn(config, '')])
  const { modelFile } = config.console.objectDetection
  const paths = new Set([...settingsFiles(config, file), ...keys, ...(modelFile === null ? [] : [modelFile])])
  return [...paths].flatMap((path) => {
    const found = statSync(path, { throwIfNoEntry: false })
    if (!found) return []
    const isReadable = mayRead(found, who) && foldersOf(path).every((folder) => mayEnter(folder, who))
    return [{ path, isReadable, isOpen: (found.mode & 0o006) !== 0, isSecret: secret.has(path) }]
  })
}

/** Keys of the config whose files hold secrets. */
const secretKey = /(password|secret|token|key)File$/i

/** Returns the paths of all secret files that a part of the config names. */
function secretsIn(value: unknown, key: string): string[] {
  if (typeof value === 'string') return secretKey.test(key) ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => secretsIn(inner, name))
}

const mayRead = (file: Stats, who: Who) => allows(file, who, 4)
const mayEnter = (folder: string, who: Who) => {
  const found = statSync(folder, { throwIfNoEntry: false })
  return found === undefined || allows(found, who, 1)
}

function allows({ mode, uid, gid }: Stats, who: Who, bit: number): boolean {
  if (who.uid === 0) return true
  const shift = uid === who.uid ? 6 : gid === who.gid ? 3 : 0
  return ((mode >> shift) & bit) !== 0
}

function foldersOf(path: string): string[] {
  const folder = dirname(path)
  return folder === path ? [] : [folder, ...foldersOf(folder)]
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
