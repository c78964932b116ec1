/** Runs `src/evidence/recipe.sh` as a stranger does: in dash, with nothing on the path but the five programs it names. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { needs } from '../needs.ts'

const programs = ['base64', 'sha256sum', 'xxd', 'openssl', 'jq']
/** For tests that run a recipe. */
export const withRecipe = needs('dash', 'xxd', 'openssl', 'jq')
export const recipeFile = resolve('src/evidence/recipe.sh')
export const statementFile = resolve('src/evidence/statement.sh')

export type RecipeRun = { readonly status: number; readonly output: string }

export type RecipeInput = {
  readonly file: string | Uint8Array
  readonly media?: Readonly<Record<string, Uint8Array>>
  /** Variables such as KEY and CA. */
  readonly env?: Readonly<Record<string, string>>
  /** Pretends that openssl has this version. */
  readonly opensslVersion?: string
  /** Default: the recipe for proof bundles. */
  readonly script?: string
  /** Puts the media files into this folder beside the bundle and names it. */
  readonly folder?: string
}

/** Returns how the recipe ended and what it printed on both streams. The folder of the run is removed. */
export async function runRecipe({ file, media = {}, env = {}, ...rest }: RecipeInput): Promise<RecipeRun> {
  const place = mkdtempSync(join(tmpdir(), 'recipe-'))
  try {
    const path = join(place, 'bin')
    mkdirSync(path)
    for (const name of programs) symlinkSync(find(name), join(path, name))
    if (rest.opensslVersion !== undefined) pretend(path, rest.opensslVersion)
    const bundle = join(place, 'a bundle.proof.json')
    writeFileSync(bundle, file)
    const folder = join(place, rest.folder ?? '.')
    mkdirSync(folder, { recursive: true })
    for (const [name, bytes] of Object.entries(media)) writeFileSync(join(folder, name), bytes)
    const args = [rest.script ?? recipeFile, bundle, ...(rest.folder === undefined ? [] : [folder])]
    return await new Promise((settle) => {
      execFile(find('dash'), args, { env: { PATH: path, TMPDIR: place, ...env } }, (error, out, err) => {
        const status = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
        settle({ status, output: out + err })
      })
    })
  } finally {
    rmSync(place, { recursive: true })
  }
}

function pretend(path: string, version: string): void {
  const shim = resolve('test/support/evidence/openssl-shim.ts')
  const words = [process.execPath, '--disable-warning=ExperimentalWarning', shim, version, find('openssl')]
  rmSync(join(path, 'openssl'))
  writeFileSync(join(path, 'openssl'), `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(' ')} "$@"\n`, {
    mode: 0o755,
  })
}

function find(name: string): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const found = folders.map((folder) => join(folder, name)).find((candidate) => existsSync(candidate))
  if (found === undefined) throw new Error(`the recipe needs ${name}`)
  return found
}
