import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { Daemon, type GatewayCommand } from './daemon.ts'

export type { GatewayCommand } from './daemon.ts'

/** The fields of `ledger verify --json` that the acts read. */
export type Verification = {
  readonly ok: boolean
  readonly size: number
  readonly root: string
  readonly events: number
  /** Every log of the box, the growing one last. */
  readonly logs: readonly { readonly logId: string; readonly size: number; readonly root: string }[]
  readonly mismatches: readonly { readonly where: string; readonly what: string }[]
}

/** One gateway, on a port of 127.0.0.1. */
export class Gateway extends Daemon {
  readonly dataDir: string
  readonly #port: number

  constructor(options: GatewayCommand & { folder: string; port: number }) {
    const url = `http://127.0.0.1:${options.port}`
    super({
      ...options,
      ...{ url, name: 'the gateway', args: ['serve'], credential: ['credential'] },
      configFile: join(options.folder, 'gatehouse.yaml'),
      logFile: join(options.folder, 'gateway.log'),
      answers: async () => (await fetch(`${url}/api/ping`, { signal: AbortSignal.timeout(2000) })).ok,
    })
    this.dataDir = join(options.folder, 'state')
    this.#port = options.port
  }

  /** Writes the embedded defaults with the site, the paths and `known`. */
  configure(known: Record<string, unknown> = {}, file = this.configFile, dataDir = this.dataDir): void {
    const config = {
      site: { id: 'demo', url: this.url },
      listen: [{ host: '127.0.0.1', port: this.#port }],
      dataDir,
      runtimeDir: `${dataDir}-run`,
      ...known,
    }
    writeFileSync(file, stringify(config), { mode: 0o600 })
  }

  /** Recomputes the ledger; `configFile` names another one than this gateway's. */
  async verify(configFile = this.configFile): Promise<{ code: number | null; found: Verification }> {
    const { code, stdout, stderr } = await this.run(['ledger', 'verify', '--config', configFile, '--json'])
    if (!stdout.startsWith('{'))
      throw new Error(`gatehouse ledger verify printed no JSON (exit code ${code}): ${stderr.trim()}`)
    return { code, found: JSON.parse(stdout) as Verification }
  }
}
