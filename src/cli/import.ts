import { readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { Argument, Command } from 'commander'
import { compose, daemonServes, importer, importThroughDaemon } from '../app/index.ts'
import { type Config, loadConfig } from '../config/index.ts'
import { AppError, ExitError } from '../errors/index.ts'
import { type ImportOptions, type ImportResult, type ListKind, listKinds, listLimitBytes } from '../intake/index.ts'
import { buildInfo } from '../world/bundle.ts'
import { createLogger, systemClock, systemRandom } from '../world/index.ts'

type Options = { config?: string; dryRun?: boolean; createZones?: boolean; json?: boolean }

export function importCommand(): Command {
  return new Command('import')
    .description('take slots, assets or what stands where from a CSV list: all of it, or nothing and what is wrong')
    .addArgument(new Argument('<kind>', 'what the list tells').choices(listKinds))
    .argument('<file>', 'CSV in UTF-8, separated by comma, semicolon or tab; its first line names the columns')
    .option('--config <file>', 'config of the gateway; default: the embedded one')
    .option('--dry-run', 'say what would be done, and do nothing')
    .option('--create-zones', 'slots: make the zones that are not there yet')
    .option('--json', 'for programs')
    .addHelpText('after', columnsHelp)
    .action(run)
}

const columnsHelp = `
Columns (in any order; an empty cell says nothing):
  slots          slot_id, zone, zone_type, zoneId, warehouseId, retired, max_weight (kg), max_height (cm),
                 allowed_types (pallet box …), and floor_plan_polygon or x, y, width, height
  assets         asset_id, type, weight_kg, length, width, height (cm), and what else the API takes of an asset
  opening-stock  slot_id (the label), asset_barcode, scale_weight_kg, work_order_ref, timestamp (RFC 3339)`

async function run(kind: ListKind, file: string, options: Options): Promise<void> {
  // As the daemon: names and keys are nobody else's business on this box.
  process.umask(0o027)
  const bytes = readList(file)
  const { config } = loadConfig(options.config)
  const asked: ImportOptions = { kind, dryRun: options.dryRun ?? false, createZones: options.createZones ?? false }
  const viaDaemon = await daemonServes(config.runtimeDir, config.dataDir)
  const result = viaDaemon
    ? await importThroughDaemon(config.runtimeDir, bytes, asked, nameAtTheBox())
    : await importAlone(config, bytes, asked)
  process.stdout.write(options.json ? `${JSON.stringify(result)}\n` : forPeople(result))
  if (!result.ok) throw new ExitError(1, '')
}

function readList(file: string): Buffer {
  try {
    if (statSync(file).size > listLimitBytes) throw new ExitError(1, `${file} is larger than ${listLimitBytes} bytes`)
    return readFileSync(file)
  } catch (error) {
    if (error instanceof ExitError) throw error
    throw new ExitError(1, `${file} can't be read: ${(error as Error).message}`, error)
  }
}

/** Who is signed in: with sudo, the one in front of it. */
function nameAtTheBox(): string {
  return process.env['SUDO_USER'] || userInfo().username
}

/** No daemon runs: this process takes its place for the while, lock and all. */
async function importAlone(config: Config, bytes: Buffer, asked: ImportOptions): Promise<ImportResult> {
  const by = nameAtTheBox()
  becomeOwnerOf(config.dataDir)
  const log = createLogger({ level: 'error' })
  const { version } = buildInfo()
  const gateway = await compose(config, { clock: systemClock, random: systemRandom, log, version }, false)
  try {
    return await importer(gateway)(bytes, asked, by)
  } catch (error) {
    if (error instanceof AppError) throw new ExitError(1, error.message, error)
    throw error
  } finally {
    gateway.close()
  }
}

/** What root writes into the data folder, the daemon could not open. */
function becomeOwnerOf(dataDir: string): void {
  const owner = statSync(dataDir, { throwIfNoEntry: false })
  if (process.getuid?.() !== 0 || !owner || owner.uid === 0) return
  process.setgroups?.([owner.gid])
  process.setgid?.(owner.gid)
  process.setuid?.(owner.uid)
}

function forPeople(result: ImportResult): string {
  const lines = (list: ImportResult['problems'], count: number) => [
    ...list.map(({ line, column, message }) => `  line ${line}${column === null ? '' : `, ${column}`}: ${message}`),
    ...(count > list.length ? [`  … and ${count - list.length} more`] : []),
  ]
  return `${[
    summary(result),
    ...Object.entries(result.warnings).map(([code, n]) => `  ${n} × ${code}`),
    ...(result.noticeCount > 0 ? ['worth a look:', ...lines(result.notices, result.noticeCount)] : []),
    ...(result.ok ? [] : ['WRONG:', ...lines(result.problems, result.problemCount)]),
  ].join('\n')}\n`
}

function summary({ ok, dryRun, rows, created, updated, unchanged, zonesCreated, problemCount }: ImportResult): string {
  if (!ok) return `${rows} lines, ${problemCount} problems`
  const zones = zonesCreated.length > 0 ? `; zones made: ${zonesCreated.join(', ')}` : ''
  const counts = `${created} new, ${updated} changed, ${unchanged} as they were${zones}`
  if (dryRun) return `${rows} lines, nothing wrong; it would be: ${counts}`
  return created + updated === 0 ? `${rows} lines, all as they were: nothing changed` : `${rows} lines: ${counts}`
}
