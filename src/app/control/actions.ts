import { outsidersOf } from '../../evidence/index.ts'
import type { Clock } from '../../platform/index.ts'
import type { Gateway } from '../compose.ts'
import type { ExportCommand } from './client.ts'
import type { ControlActions } from './control.ts'
import { importer } from './import-command.ts'
import { userActs } from './user-command.ts'
import { noteVerification } from './verification-note.ts'
import { warehouseAdder } from './warehouse-command.ts'

/** Returns what the commands of the box do in a running gateway. Those that write wait until a new version is healthy. */
export function controlActions(gateway: Gateway, dataDir: string, clock: Clock): ControlActions {
  const { takeover } = gateway
  return {
    dataDir,
    verify: async () => {
      const verification = await gateway.jobs.verify(dataDir, { known: outsidersOf(gateway.live.config.evidence) })
      noteVerification(dataDir, verification, clock.now())
      return verification
    },
    status: () => gateway.status(gateway.reloads.now, true),
    metrics: () => gateway.metricsText(),
    verified: () => gateway.jobs.verified,
    erasePerson: takeover.after(({ by, ...request }) => gateway.erasePerson(request, by)),
    rotateKeys: takeover.after((by) => gateway.rotateKeys(by)),
    backup: takeover.after(({ by, ...request }) => gateway.backup(request, by)),
    beginExport: takeover.after(({ folder, by }: ExportCommand) => gateway.beginExport(folder, by)),
    import: takeover.after(importer(gateway)),
    addWarehouse: takeover.after(warehouseAdder(gateway)),
    user: takeover.after(userActs(gateway)),
    prove: ({ kind, id }) => gateway.proofs.of(kind, id, undefined),
  }
}
