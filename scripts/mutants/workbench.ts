import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Observed, observe } from './observe.ts'
import { type Mutant, touchedBy } from './read.ts'
import { attempts } from './titles.ts'
import { type Tree, takeTree } from './tree.ts'

/** A copy of the tree in which one mutant after the other is tried. */
export class Workbench {
  readonly #temporary = mkdtempSync(join(tmpdir(), 'gatehouse-mutants-'))
  readonly #tree: Tree = takeTree()
  readonly #env: NodeJS.ProcessEnv

  constructor() {
    const cache = resolve('.cache', 'mutants', 'compiled')
    mkdirSync(cache, { recursive: true })
    // Not an argument of the test: the daemons and commands that it starts load the same modules.
    const imports = pathToFileURL(join(this.#tree.folder, 'scripts', 'mutants', 'imports.ts'))
    const NODE_OPTIONS = `--import=${imports.href}`
    // What a mutant breaks often never happens: waiting a minute for each of these would be a third of the run.
    const patience = { TEST_PATIENCE_MS: '20000' }
    this.#env = { ...process.env, ...patience, TMPDIR: this.#temporary, NODE_COMPILE_CACHE: cache, NODE_OPTIONS }
    // An ended process leaves nothing behind, neither in the cache of compiled modules, so that this one has to.
    const env = { ...this.#env, MUTANTS_WARM: 'yes' }
    spawnSync(process.execPath, ['scripts/mutants/warm.ts'], { cwd: this.#tree.folder, env })
  }

  /**
   * Whether the mutant's test or check fails with its words; it is ended as soon as it has. Of a test file, the test
   * that is likely to notice is tried first and alone.
   */
  async run(mutant: Mutant, noticedBy: string | undefined): Promise<Observed> {
    execFileSync('git', ['apply', resolve(mutant.file)], { cwd: this.#tree.folder, stdio: 'pipe' })
    try {
      let observed: Observed | undefined
      for (const only of attempts(mutant, noticedBy)) {
        observed = await observe(mutant, { tree: this.#tree.folder, env: this.#env }, only)
        if (observed.isCaught) break
      }
      return observed ?? { isCaught: false, output: '' }
    } finally {
      this.#tree.restore(touchedBy(mutant))
    }
  }

  clear(): void {
    this.#unmount()
    rmSync(this.#temporary, { recursive: true, force: true, maxRetries: 5 })
    this.#tree.release()
  }

  /** Takes away the small disks that an ended test could not. */
  #unmount(): void {
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
    const left = mounts.map((line) => line.split(' ')[1] ?? '').filter((path) => path.startsWith(this.#temporary))
    for (const path of left) spawnSync('umount', ['-l', path])
  }
}
