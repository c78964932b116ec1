import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { framesPerSecond } from '../../src/video/index.ts'
import { type Figure, rounded } from './figure.ts'
import { drawnFilms, type Film, madeFilms, read, realFilms, stillFilms } from './sight/films.ts'
import { judge, judgeScores, type Verdict } from './sight/judge.ts'
import { firstScorer, gatehouse, type Program, runningMean } from './sight/programs.ts'
import { sleepThrough } from './sight/sleeping.ts'

/** Even seeds are those of reports. */
const seed = 2
const programs: Readonly<Record<string, Program>> = {
  gatehouse,
  'first scorer': firstScorer,
  'running mean': runningMean,
}

type Judged = { readonly acts: number; readonly found: number; readonly wrong: number; readonly minutes: number }

/**
 * Measures motion detection in pictures that went through an encoder, beside two simpler detectors: drawn scenes and still halls
 * through ten kinds of cameras, and real clips where `footage` names a folder of them. Films are made once, in `cache`.
 */
export async function measureSight(cache: string, footage: string | undefined): Promise<Figure[]> {
  const real = footage !== undefined && existsSync(join(footage, 'truth.json')) ? realFilms(footage, cache) : []
  const films = [...real, ...stillFilms(seed, cache), ...drawnFilms(seed, cache)]
  await madeFilms(films)
  const groups = Map.groupBy(films, ({ group }) => group)
  return [...groups].map(([group, members]) => figureOf(group, members))
}

function figureOf(group: string, films: readonly Film[]): Figure {
  const all = Object.entries(programs).map(([name, program]) => {
    return [name, sumOf(films.map((film) => judge(film, program)))] as const
  })
  all.push(['gatehouse with key frames alone while nothing moves', sumOf(films.map(judgeAsleep))])
  const [, ours] = all[0] as readonly [string, Judged]
  const isFound = ours.acts > 0
  const said = ([name, { acts, found, wrong, minutes }]: readonly [string, Judged]) =>
    `${name}: ${acts > 0 ? `${found} of ${acts} found, ` : ''}${wrong} false in ${rounded(minutes)} min`
  return {
    id: `sight-${group.replaceAll(' ', '-')}`,
    what: `${group}, encoded: ${isFound ? 'found' : 'false events'}`,
    value: isFound ? (100 * ours.found) / ours.acts : ours.wrong,
    unit: isFound ? '%' : 'events',
    raw: all.map(said).join('; '),
    numbers: { ...ours },
  }
}

/** With a key frame every second. */
function judgeAsleep(film: Film): Verdict {
  const { scores } = sleepThrough([...read(film)], framesPerSecond)
  return judgeScores(film, scores, (score) => score)
}

/** Things of at most half a percent of the picture are not counted. */
function sumOf(verdicts: readonly Verdict[]): Judged {
  const large = verdicts.flatMap(({ film, found }) => found.filter((_, i) => !film.acts[i]?.small))
  return {
    acts: large.length,
    found: large.filter(Boolean).length,
    wrong: verdicts.reduce((sum, { falseMs }) => sum + falseMs.length, 0),
    minutes: verdicts.reduce((sum, { freeMs }) => sum + freeMs, 0) / 60_000,
  }
}
