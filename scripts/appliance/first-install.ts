import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/inputs.ts'
import { Container } from './container.ts'
import { debianAt } from './installed.ts'
import { makeRepository } from './package.ts'
import { type Bench, holds, type Trial } from './trial.ts'

const apt = 'DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Use-Pty=0 -qq -y --no-install-recommends'
const url = 'http://127.0.0.1:8480'
const source = 'deb [signed-by=/usr/share/keyrings/gatehouse.gpg] file:///srv/gatehouse stable main'

const placement = JSON.stringify({
  ...{ event_type: 'PLACED', slot_code: 'A-1-1', asset_barcode: '4711' },
  photo_url: 'https://photos.example/1.jpg',
})

/** From a Debian that has never heard of gatehouse to the first pallet, as the page *Start* of the manual says. */
async function firstPallet({ folder, say }: Bench): Promise<void> {
  const place = join(folder, 'first-install')
  const repo = await makeRepository(folder)
  await debianAt(place)
  cpSync(repo, join(place, 'srv/gatehouse'), { recursive: true })
  writeFileSync(join(place, 'etc/apt/sources.list'), '')
  const box = await Container.boot(place, root)
  try {
    const startedMs = performance.now()
    await box.must('cp /srv/gatehouse/gatehouse.gpg /usr/share/keyrings/gatehouse.gpg')
    await box.must(`echo '${source}' > /etc/apt/sources.list.d/gatehouse.list`)
    await box.must(`apt-get -qq update --error-on=any && ${apt} install gatehouse`)
    const flags = `--yes --json --site-id hall-9 --url ${url} --tls none --admin ada --warehouse Hall --timezone UTC`
    const made = JSON.parse(
      (await box.must(`gatehouse setup ${flags} 2> /tmp/problem || { cat /tmp/problem; exit 1; }`)).trim(),
    ) as { secretFile: string }
    await box.must('systemctl enable --now gatehouse 2> /dev/null')
    await box.must(
      "printf 'slot_id\\nA-1-1\\n' > /tmp/slots.csv && gatehouse import slots /tmp/slots.csv --warehouse Hall --grid --create-zones",
    )
    const headers = [
      `Authorization: Bearer $(cat ${made.secretFile})`,
      `X-Storage-Instance: ${url}`,
      'X-Storage-Username: ada',
    ]
    const sent = [...headers, 'Content-Type: application/json'].map((line) => `-H "${line}"`).join(' ')
    const said = await box.must(`curl -sS -w ' %{http_code}' ${sent} -d '${placement}' ${url}/api/whms/events`)
    holds(said.endsWith(' 201'), said)
    const seconds = Math.round((performance.now() - startedMs) / 1000)
    holds(seconds < 600, `the first placement came after ${seconds} s, and ten minutes are promised`)
    say(`from apt update to the first placement: ${seconds} s`)
  } finally {
    await box.stop()
    rmSync(place, { recursive: true, force: true })
  }
}

export const firstInstallTrials: readonly Trial[] = [
  {
    name: 'first install: apt installs from the signed repository, setup asks nothing, and the first pallet is placed',
    play: firstPallet,
  },
]
