import { rmSync } from 'node:fs'
import { Command } from 'commander'
import { compose, describeApi } from '../app/index.ts'
import { loadConfig } from '../config/index.ts'
import { describeHub } from '../hub/index.ts'
import { buildInfo } from '../platform/bundle.ts'
import { print, silentLogger, systemClock, systemRandom, temporaryFolder } from '../platform/index.ts'

export function openapiCommand(): Command {
  return new Command('openapi')
    .description('print the OpenAPI description')
    .option('--hub', 'description of the head office, instead of a gateway')
    .action((options: { hub?: boolean }) => (options.hub ? openapiOfHub() : openapi()))
}

async function openapiOfHub(): Promise<void> {
  print(`${JSON.stringify(await describeHub(buildInfo().version), null, 2)}\n`)
}

/**
 * Prints the description. It is made from the routes, so a gateway is built in a temporary folder and never started.
 */
async function openapi(): Promise<void> {
  const dataDir = temporaryFolder()
  try {
    const { version } = buildInfo()
    const outside = { clock: systemClock, random: systemRandom, log: silentLogger(), version }
    const gateway = await compose({ ...loadConfig().config, dataDir }, outside, false)
    print(`${JSON.stringify(await describeApi(gateway.api, version), null, 2)}\n`)
    gateway.close()
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
