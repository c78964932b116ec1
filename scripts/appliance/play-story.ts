/** Plays the floor's story on an installed gatehouse: `node scripts/appliance/play-story.ts COMMAND [--without-cameras]`. */
import { playStory } from '../demo-parts/story.ts'

const [command = '/usr/bin/gatehouse', option] = process.argv.slice(2)
const print = (line: string) => void process.stdout.write(`${line}\n`)
await playStory({ command, bare: false, cameras: option !== '--without-cameras', print })
