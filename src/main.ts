/** The entry of gatehouse: hands the arguments to the command line. */

import { run } from './cli/run.ts'
import { errorMessage } from './platform/faults.ts'
import { printError } from './platform/index.ts'

// A reader that has seen enough (`gatehouse config example | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

run(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    printError(`gatehouse: ${errorMessage(error)}\n`)
    process.exitCode = 1
  },
)
