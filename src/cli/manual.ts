import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Argument, Command, InvalidArgumentError } from 'commander'
import { type HelpTopic, helpTopics, manual, partOf } from '../console/index.ts'
import { ExitError } from '../errors/index.ts'
import { print } from '../platform/index.ts'

/** Exit status of a shell when there is no such program. */
const noSuchProgram = 127

export function manualCommand(): Command {
  return new Command('manual')
    .description('print a page of the manual, as Markdown; without a topic, the list of pages')
    .addArgument(
      // The choices are for the completion: the parser also takes a part of one.
      new Argument('[topic]', 'page of the manual, or one part of it: TOPIC#PART')
        .choices(helpTopics)
        .argParser(placeOf),
    )
    .action(showPage)
}

type Place = { readonly topic: HelpTopic; readonly anchor: string | undefined }

function placeOf(value: string): Place {
  const [name, anchor] = value.split('#', 2)
  const topic = helpTopics.find((one) => one === name)
  if (topic === undefined) throw new InvalidArgumentError(`Allowed choices are ${helpTopics.join(', ')}.`)
  return { topic, anchor }
}

async function showPage(place: Place | undefined): Promise<void> {
  const { en: pages } = (await manual()).pages
  if (place === undefined) {
    const width = Math.max(...helpTopics.map(({ length }) => length))
    const lines = helpTopics.map((one) => `${one.padEnd(width)}  ${pages[one]?.title ?? ''}`.trimEnd())
    print(`${lines.join('\n')}\n`)
    return
  }
  const { topic, anchor } = place
  const page = pages[topic]
  if (!page) throw new ExitError(1, `the page "${topic}" is missing in this program`)
  const text = anchor === undefined ? page.markdown : partOf(page, anchor)
  if (text === undefined) {
    const known = page.parts.map((part) => `#${part.anchor}`).join(', ')
    throw new ExitError(2, `'${topic}#${anchor}' is invalid: the page has ${known}`)
  }
  if (process.stdout.isTTY) await throughPager(text)
  else print(text)
}

/** Shows a text by $PAGER, else by less; where neither is installed it is printed. */
async function throughPager(text: string): Promise<void> {
  // With sudo the pager must give no shell of root.
  const env = { LESS: 'FRX', LESSSECURE: '1', ...process.env }
  const pager = spawn('sh', ['-c', process.env['PAGER'] || 'less'], { env, stdio: ['pipe', 'inherit', 'ignore'] })
  // A reader may leave before the end.
  pager.stdin.on('error', () => undefined)
  pager.stdin.end(text)
  const [code] = await once(pager, 'close')
  if (code === noSuchProgram) print(text)
}
