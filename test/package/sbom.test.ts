import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import t from 'tap'
import { sbom } from '../../scripts/build/sbom.ts'
import { productionPackages } from '../../scripts/notices/locked-packages.ts'
import { gatehouse } from '../support/process.ts'

const root = join(import.meta.dirname, '../..')
const schemaOf = (name: string) =>
  JSON.parse(readFileSync(join(root, `test/fixtures/cyclonedx/${name}.schema.json`), 'utf8'))

type Component = { 'bom-ref': string; name: string; version: string; purl?: string; cpe?: string; licenses?: unknown }
type Bom = { components: Component[]; dependencies: { ref: string; dependsOn: string[] }[]; metadata: unknown }

for (const arch of ['x64', 'arm64'] as const) {
  const bom = JSON.parse(sbom(arch)) as Bom

  t.test(`the SBOM for ${arch} is valid CycloneDX 1.6`, async (t) => {
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
    for (const name of ['spdx', 'jsf-0.82']) {
      ajv.addSchema(schemaOf(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`)
    }
    const validate = ajv.compile(schemaOf('bom-1.6'))
    t.ok(validate(bom), JSON.stringify(validate.errors?.slice(0, 3)))
    t.notOk(validate({ ...bom, components: [{ name: 'no type' }] }), 'the schema can refuse')
  })

  t.test(`every package that the binary for ${arch} carries is in it once, with its licence`, async (t) => {
    const other = arch === 'x64' ? /-arm64$/ : /-x64$/
    const expected = productionPackages(root)
      .filter(({ name }) => !other.test(name))
      .map(({ path }) => path)
    const refs = bom.components.map((one) => one['bom-ref'])
    t.same(
      expected.filter((path) => !refs.includes(path)),
      [],
    )
    t.same(
      refs.filter((ref) => other.test(ref)),
      [],
      'and none for the other processor',
    )
    t.equal(new Set(refs).size, refs.length)
    t.same(
      bom.components.filter(({ licenses }) => !licenses),
      [],
    )
    for (const { ref, dependsOn } of bom.dependencies) {
      t.same(
        [ref, ...dependsOn].filter((one) => one !== 'gatehouse' && !refs.includes(one)),
        [],
        ref,
      )
    }
  })

  t.test(`the works inside packages for ${arch} have the names that vulnerabilities are published under`, async (t) => {
    const cpes = bom.components.flatMap(({ cpe }) => cpe ?? [])
    const { node } = process.versions
    t.ok(cpes.includes(`cpe:2.3:a:nodejs:node.js:${node}:*:*:*:*:*:*:*`), `Node ${node}, which the tests run on too`)
    t.ok(cpes.some((cpe) => cpe.startsWith('cpe:2.3:a:sqlite:sqlite:3.')))
    t.ok(cpes.some((cpe) => cpe.startsWith('cpe:2.3:a:ffmpeg:ffmpeg:')))
  })
}

t.test('the same source gives the same SBOM, and gatehouse prints it', async (t) => {
  t.equal(sbom('x64'), sbom('x64'))
  if (process.arch !== 'x64' && process.arch !== 'arm64') return
  t.equal(execFileSync(gatehouse, ['version', '--sbom'], { encoding: 'utf8' }), sbom(process.arch))
})
