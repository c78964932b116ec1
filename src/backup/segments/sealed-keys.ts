import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { keyFiles, keyFolder } from '../../evidence/index.ts'
import { readFileIfThere } from '../../platform/index.ts'
import { recoveryKeyFile } from '../recovery-key.ts'
import { SealedFileFault } from '../sealing/pieces.ts'

const format = 'gatehouse-keys/1'

const schema = z.object({
  format: z.literal(format),
  siteId: z.string(),
  /** `name` is below the data folder; `path` is where a settings file was on that box. */
  files: z.array(
    z.object({
      name: z.string().regex(/^((keys|settings)\/[\w-][\w.-]{0,99}|first-admin|metrics-token)$/),
      path: z.string().optional(),
      base64: z.string(),
    }),
  ),
})
export type SealedKeys = z.infer<typeof schema>

const loneFiles = ['first-admin', 'metrics-token']

/** Returns keys and settings of a box as they go into the sealed file: the same bytes as long as nothing changes. */
export function keysContent(of: {
  readonly dataDir: string
  readonly siteId: string
  readonly settings: readonly string[]
}): Buffer {
  const { dataDir, siteId, settings } = of
  const files: SealedKeys['files'] = []
  const add = (name: string, from: string, path?: string) => {
    const bytes = readFileIfThere(from)
    if (bytes) files.push({ name, ...(path !== undefined && { path }), base64: bytes.toString('base64') })
  }
  // Head and count change with the log, and nothing is sealed under the recovery key that holds it.
  const others: string[] = [keyFiles.head, keyFiles.count, recoveryKeyFile]
  for (const entry of readdirSync(keyFolder(dataDir), { withFileTypes: true }).toSorted(byName)) {
    if (entry.isFile() && !others.includes(entry.name) && !entry.name.includes('.part')) {
      add(`keys/${entry.name}`, join(keyFolder(dataDir), entry.name))
    }
  }
  for (const name of loneFiles) add(name, join(dataDir, name))
  for (const [n, path] of settings.entries()) {
    add(`settings/${n + 1}-${basename(path).replaceAll(/[^\w.-]/g, '_')}`.slice(0, 100), path, path)
  }
  return Buffer.from(JSON.stringify({ format, siteId, files } satisfies SealedKeys))
}

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)

/** Reads an opened file of keys and settings. Throws SealedFileFault. */
export function readKeysContent(bytes: Buffer): SealedKeys {
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch {
    value = undefined
  }
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new SealedFileFault(
    `does not hold keys and settings of gatehouse (${issue?.path.join('.')}: ${issue?.message})`,
  )
}
