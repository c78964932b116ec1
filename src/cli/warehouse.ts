import { Command } from 'commander'
import { type AddedWarehouse, addWarehouseThroughDaemon, daemonServes, warehouseAdder } from '../app/index.ts'
import { loadConfig } from '../config/index.ts'
import { ExitError } from '../errors/index.ts'
import { print } from '../platform/index.ts'
import { NewWarehouse } from '../warehouse/index.ts'
import { alone } from './alone.ts'
import { usualConfig, usualConfigText } from './usual-config.ts'
import { whoRunsThis } from './who.ts'

export function warehouseCommand(): Command {
  const add = new Command('add')
    .description('create a warehouse; an existing one of that name stays as it is')
    .requiredOption('--name <name>', 'name for people')
    .requiredOption('--timezone <zone>', 'its time zone, such as Europe/Berlin')
    .option('--config <file>', `config of the gateway; ${usualConfigText}`)
    .option('--json', 'for programs: {id, name, timezone, created}')
    .action(addWarehouse)
  return new Command('warehouse').description('warehouses of this gateway').addCommand(add)
}

type Options = { name: string; timezone: string; config?: string; json?: boolean }

async function addWarehouse({ name, timezone, ...options }: Options): Promise<void> {
  // As the daemon: other users of this box must not read names and keys.
  process.umask(0o027)
  const parsed = NewWarehouse.safeParse({ name, timezone })
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const path = String(issue?.path[0])
    throw new ExitError(1, `--${path} ${JSON.stringify(path === 'name' ? name : timezone)}: ${issue?.message}`)
  }
  const { config } = loadConfig(usualConfig(options.config))
  const by = whoRunsThis()
  const wanted = { name: parsed.data.name, timezone: parsed.data.timezone }
  const added = (await daemonServes(config.runtimeDir, config.dataDir))
    ? await addWarehouseThroughDaemon(config.runtimeDir, wanted, by)
    : await alone(config, (gateway) => warehouseAdder(gateway)(wanted, by))
  if (!added.created && added.timezone !== timezone) throw new ExitError(1, otherZone(added))
  print(options.json ? `${JSON.stringify(added)}\n` : forPeople(added))
}

const forPeople = ({ id, name, created }: AddedWarehouse): string =>
  created ? `warehouse ${id}: ${name}\n` : `warehouse ${id}: ${name}, as it was: nothing changed\n`

const otherZone = ({ id, name, timezone }: AddedWarehouse): string =>
  `warehouse ${id} is called ${name} already, with the time zone ${timezone}; ` +
  `PUT /api/whms/warehouses/${id} changes that, another --name makes a second warehouse`
