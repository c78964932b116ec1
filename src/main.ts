/** The entry of gatehouse: hands the arguments to the command line. */
import { run } from './cli/run.ts'

run(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    process.stderr.write(`gatehouse: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  },
)
