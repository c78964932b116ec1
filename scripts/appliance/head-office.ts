import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, holds, type Trial } from './trial.ts'
import { bring, type Installed, next, putBack, version } from './upgrades.ts'
import { renumber } from './versions.ts'

const conf = '/etc/gatehouse/hub.yaml'
const health = 'curl -fsS http://127.0.0.1:8490/api/health'
const pid = 'systemctl show gatehouse-hub -p MainPID --value'
const hubConfig = `site: { id: head-office, url: "http://127.0.0.1:8490" }
listen: [{ host: 127.0.0.1, port: 8490 }]
dataDir: /var/lib/gatehouse-hub
hub:
  database: { url: "postgres://hub_app@127.0.0.1/hub", passwordFile: secrets/hub-app, ownerUrl: "postgres://owner@127.0.0.1/hub", ownerPasswordFile: secrets/hub-owner }
  witness: { name: hub.example/w1 }
`

const runs = async ({ box }: Installed, wanted: string) => {
  const said = await box.must(health)
  holds(said.includes(`"version":"${wanted}"`), `version ${wanted} does not run: ${said}`)
}

/** A head office beside the gateway, as the page *Head office* of the manual says. */
async function begins(at: Installed): Promise<void> {
  const { box, place } = at
  await box.until('pg_isready -q', 60_000)
  await box.must(
    `cd / && runuser -u postgres -- psql -q -c "CREATE ROLE owner LOGIN CREATEROLE PASSWORD 'of the owner'" -c "CREATE DATABASE hub OWNER owner"`,
  )
  writeFileSync(join(place, conf), hubConfig)
  await box.must(
    `cd /etc/gatehouse && mkdir -p secrets && printf 'of the app' > secrets/hub-app && printf 'of the owner' > secrets/hub-owner`,
  )
  await box.must('chown -R root:gatehouse /etc/gatehouse && chmod -R u=rwX,g=rX,o= /etc/gatehouse')
  await box.must(`gatehouse hub migrate --config ${conf} && systemctl enable --now gatehouse-hub`)
  await runs(at, version)
}

async function renewed(at: Installed, { folder }: Bench): Promise<void> {
  const { box } = at
  await box.must(await bring(at, folder, 'office', (binary) => renumber(binary, version, next)))
  await runs(at, next)
  // As after an upgrade that has another schema: the one before stays until a person has migrated the database.
  const newest = '(SELECT max(name) FROM hub_migration)'
  await box.must(`cd / && runuser -u postgres -- psql -q hub -c "DELETE FROM hub_migration WHERE name = ${newest}"`)
  const before = await box.must(pid)
  const said = await putBack(at)
  holds(/the head office still runs the version before: [\s\S]*gatehouse hub migrate --config/.test(said), said)
  holds((await box.must(pid)) === before, 'the head office was stopped, and its database is not ready')
  await runs(at, next)
}

/** The head office of the package; "removing keeps the state" after it also shows that it stops with the package. */
export function headOfficeTrials(installed: () => Installed): Trial[] {
  return [
    { name: 'installed: a head office begins beside the gateway', play: () => begins(installed()) },
    {
      name: 'installed: the head office goes on with a new version once its database is ready for it',
      play: (bench) => renewed(installed(), bench),
    },
  ]
}
