import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Mutant } from './read.ts'

const longestMs = 300_000

type Observed = { readonly isCaught: boolean; readonly output: string }

/** A copy of the tree in which one mutant after the other is tried. */
export class Workbench {
  readonly #folder = mkdtempSync(join(tmpdir(), 'gatehouse-mutants-'))
  readonly #tree = join(this.#folder, 'tree')
  readonly #temporary = join(this.#folder, 'tmp')

  constructor() {
    const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
    mkdirSync(this.#temporary, { recursive: true })
    // With their times: a lockfile that looks newer than the packages would have them installed anew, through the link.
    for (const file of files.split('\n').filter(Boolean))
      cpSync(file, join(this.#tree, file), { preserveTimestamps: true })
    symlinkSync(resolve('node_modules'), join(this.#tree, 'node_modules'))
    this.#git('init', '-q')
  }

  /**
   * Whether the mutant's test or check fails with its words; it is ended as soon as it has. Of a test file, what has
   * these words in its title is tried first and alone.
   */
  async run(mutant: Mutant): Promise<Observed> {
    const patch = resolve(mutant.file)
    this.#git('apply', patch)
    try {
      const first = isInTitles(mutant) ? await this.#observe(mutant, patternOf(mutant.says)) : undefined
      return first?.isCaught ? first : await this.#observe(mutant)
    } finally {
      this.#git('apply', '-R', patch)
    }
  }

  clear(): void {
    this.#unmount()
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }

  /** Takes away the small disks that an ended test could not. */
  #unmount(): void {
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
    const left = mounts.map((line) => line.split(' ')[1] ?? '').filter((path) => path.startsWith(this.#folder))
    for (const path of left) spawnSync('umount', ['-l', path])
  }

  #git(...args: string[]): void {
    execFileSync('git', args, { cwd: this.#tree, stdio: 'pipe' })
  }

  /** @param only pattern of the titles to run; without it all of them run */
  async #observe({ caughtBy, says }: Mutant, only?: string): Promise<Observed> {
    const check = caughtBy.match(/^check (.+)$/)?.[1]
    const program = spawn(process.execPath, check ? ['scripts/check.ts', check] : [caughtBy], {
      cwd: this.#tree,
      // A group of its own, so that the daemons and browsers of an ended test end with it.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        TMPDIR: this.#temporary,
        TAP_TIMEOUT: '100',
        NODE_COMPILE_CACHE: resolve('.cache', 'mutants'),
        ...(only === undefined ? {} : { TAP_GREP: `/${only}/` }),
      },
    })
    const end = () => {
      try {
        if (program.pid !== undefined) process.kill(-program.pid, 'SIGKILL')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
      }
    }
    const tooLong = setTimeout(end, longestMs)
    let output = ''
    let isCaught = false
    const read = async (stream: NodeJS.ReadableStream) => {
      for await (const line of createInterface({ input: stream })) {
        output += `${line}\n`
        if (!/^\s*not ok /.test(line) || !line.includes(says)) continue
        isCaught = true
        end()
      }
    }
    const ended = new Promise<number | null>((settle) => program.once('close', settle))
    await Promise.all([read(program.stdout), read(program.stderr)])
    const status = await ended
    clearTimeout(tooLong)
    end()
    // A check, and a test that ends before it has a title, say it in words of their own.
    return { isCaught: isCaught || (status !== 0 && status !== null && failures(output).includes(says)), output }
  }
}

/** Whether the file of the test names the words, as in a title. */
function isInTitles({ caughtBy, says }: Mutant): boolean {
  return existsSync(caughtBy) && readFileSync(caughtBy, 'utf8').includes(says)
}

/** A pattern for exactly these words. */
const patternOf = (words: string): string => words.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')

/** The output without the lines of what went well. */
const failures = (output: string): string => output.replace(/^\s*ok .*$/gm, '').replace(/^\s*# Subtest: .*$/gm, '')
