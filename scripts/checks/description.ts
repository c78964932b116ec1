import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { breakingChanges } from './breaking-changes.ts'

const file = 'src/openapi.json'
const command = 'node scripts/checks/description.ts'

/** Throws where `src/openapi.json` is not what the gateway describes, with each change that breaks a client. */
export async function committedDescription(): Promise<void> {
  const described = await describedNow()
  const committed = readFileSync(file, 'utf8')
  if (committed === described) return
  const broken = breakingChanges(JSON.parse(committed), JSON.parse(described))
  if (broken.length === 0) throw new Error(`${file} is not the gateway's description. \`${command}\` writes it.`)
  throw new Error(
    `${broken.join('\n')}\nThese changes break clients. Where no release promised them, \`${command} --breaking\` accepts them.`,
  )
}

async function describedNow(): Promise<string> {
  const exec = promisify(execFile)
  const { stdout } = await exec(process.execPath, ['src/main.ts', 'openapi'], { maxBuffer: 64 << 20 })
  return linewise(JSON.parse(stdout))
}

/** Formats a description with one operation, one schema, or one other value a line. */
function linewise(description: Record<string, unknown>): string {
  const deep = new Set(['paths', 'components'])
  const lines = (value: object, levels: number): string => {
    const rows = Object.entries(value).map(([key, one]) => {
      const opened = levels > 0 && typeof one === 'object' && one !== null && !Array.isArray(one)
      return `${JSON.stringify(key)}: ${opened ? lines(one, levels - 1) : JSON.stringify(one)}`
    })
    return `{\n${rows.join(',\n')}\n}`
  }
  const rows = Object.entries(description).map(
    ([key, one]) => `${JSON.stringify(key)}: ${deep.has(key) ? lines(Object(one), 1) : JSON.stringify(one)}`,
  )
  return `{\n${rows.join(',\n')}\n}\n`
}

/** Writes the file, unless a change breaks clients. */
async function write(accepts: boolean): Promise<void> {
  const described = await describedNow()
  const broken = existsSync(file) ? breakingChanges(JSON.parse(readFileSync(file, 'utf8')), JSON.parse(described)) : []
  if (broken.length > 0) process.stdout.write(`${broken.join('\n')}\n`)
  if (broken.length > 0 && !accepts) process.exitCode = 1
  else writeFileSync(file, described)
}

if (import.meta.main) await write(process.argv.includes('--breaking'))
