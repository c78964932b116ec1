import { execFileSync } from 'node:child_process'
import t from 'tap'

/** Prints how many modules are loaded with the program of the gateway, and those of them that belong to `openid-client`. */
const program = `import { registerHooks } from 'node:module'
const loaded = []
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
await import('./src/app/index.ts')
console.log(JSON.stringify({ count: loaded.length, library: loaded.filter((url) => /openid-client|oauth4webapi/.test(url)) }))`

t.test('a gateway without a provider starts without the library for providers', async (t) => {
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program]
  const { count, library } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
  t.ok(count > 500, `the whole program was loaded: ${count} modules`)
  t.strictSame(library, [])
})
