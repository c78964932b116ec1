import { readFileSync, statSync } from 'node:fs'
import { Argument, Command } from 'commander'
import { daemonServes, importer, importThroughDaemon } from '../app/index.ts'
import { loadConfig } from '../config/index.ts'
import { EXIT_USAGE, ExitError } from '../errors/index.ts'
import {
  type Cause,
  type ImportOptions,
  type ImportResult,
  type ListKind,
  listKinds,
  listLimitBytes,
} from '../imports/index.ts'
import { errorMessage } from '../platform/faults.ts'
import { print } from '../platform/index.ts'
import { alone } from './alone.ts'
import { usualConfig, usualConfigText } from './usual-config.ts'
import { whoRunsThis } from './who.ts'

type Options = {
  config?: string
  dryRun?: boolean
  createZones?: boolean
  warehouse?: string
  grid?: boolean
  json?: boolean
}

export function importCommand(): Command {
  return new Command('import')
    .description('import slots, assets or opening stock from a CSV list; one faulty line refuses the whole list')
    .addArgument(new Argument('<kind>', 'kind of the list').choices(listKinds))
    .argument('<file>', 'CSV in UTF-8, separated by comma, semicolon or tab; its first line names the columns')
    .option('--config <file>', `config of the gateway; ${usualConfigText}`)
    .option('--dry-run', 'print the changes, and change nothing')
    .option('--create-zones', 'slots: create missing zones')
    .option('--warehouse <id or name>', 'slots: warehouse of lines that name none; default: site.warehouseId')
    .option('--grid', 'slots: place those without geometry by their labels, such as A-01-02 (aisle, bay, level)')
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
  // As the daemon: other users of this box must not read names and keys.
  process.umask(0o027)
  if (kind !== 'slots' && (options.warehouse !== undefined || options.grid || options.createZones)) {
    throw new ExitError(EXIT_USAGE, `--warehouse, --grid and --create-zones are for slots; ${kind} need none of them`)
  }
  const bytes = readList(file)
  const { config } = loadConfig(usualConfig(options.config))
  const { dryRun = false, createZones = false, grid = false, warehouse } = options
  const asked: ImportOptions = { kind, dryRun, createZones, grid, warehouse }
  const by = whoRunsThis()
  const viaDaemon = await daemonServes(config.runtimeDir, config.dataDir)
  const result = viaDaemon
    ? await importThroughDaemon(config.runtimeDir, bytes, asked, by)
    : await alone(config, (gateway) => importer(gateway)(bytes, asked, by))
  print(options.json ? `${JSON.stringify(result)}\n` : forPeople(result))
  if (!result.ok) throw new ExitError(1, '')
}

function readList(file: string): Buffer {
  try {
    if (statSync(file).size > listLimitBytes) throw new ExitError(1, `${file} is larger than ${listLimitBytes} bytes`)
    return readFileSync(file)
  } catch (error) {
    if (error instanceof ExitError) throw error
    throw new ExitError(1, `${file} cannot be read: ${errorMessage(error)}`, error)
  }
}

function forPeople(result: ImportResult): string {
  return `${[
    summary(result),
    ...Object.entries(result.warnings).map(([code, n]) => `  ${n} × ${code}`),
    ...(result.noticeCount > 0 ? ['please check:', ...result.noticeCauses.flatMap(causeLines)] : []),
    ...(result.ok ? [] : ['WRONG:', ...result.causes.flatMap(causeLines)]),
  ].join('\n')}\n`
}

/** Returns one line for a cause with one message; otherwise its count and the first examples below it. */
function causeLines({ column, count, examples }: Cause): string[] {
  const about = column === null ? '' : `${column}: `
  const [first] = examples
  const lines = examples.map(({ line }) => line).join(', ')
  if (count === 1 && first) return [`  line ${first.line}, ${about}${first.message}`]
  const more = count > examples.length ? ', …' : ''
  if (examples.every(({ message }) => message === first?.message)) {
    return [`  ${count} lines (${lines}${more}), ${about}${first?.message}`]
  }
  const head = `  ${count} lines, ${about}such as`
  return [head, ...examples.map(({ line, message }) => `    line ${line}: ${message}`)]
}

function summary({ ok, dryRun, rows, created, updated, unchanged, zonesCreated, problemCount }: ImportResult): string {
  if (!ok) return `${rows} lines, ${problemCount} ${problemCount === 1 ? 'problem' : 'problems'}`
  const zones = zonesCreated.length > 0 ? `; zones made: ${zonesCreated.join(', ')}` : ''
  const counts = `${created} new, ${updated} changed, ${unchanged} as they were${zones}`
  if (dryRun) return `${rows} lines, nothing wrong; it would be: ${counts}`
  return created + updated === 0 ? `${rows} lines, all as they were: nothing changed` : `${rows} lines: ${counts}`
}
