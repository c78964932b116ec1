import { globSync, readFileSync } from 'node:fs'
import { emptyPatterns } from './empty-patterns.ts'
import { lengthProblems } from './lengths.ts'

type Rule = {
  name: string
  files: string
  /** Files that it does not hold for. */
  except?: RegExp
  forbidden: RegExp
  /** Lines that it does not hold for. */
  allowed?: RegExp
  /** Excuses a line when one of so many lines above it matches. */
  excuse?: { readonly words: RegExp; readonly above: number }
  why: string
}

/** Rules that neither compiler nor linter knows. */
const rules: readonly Rule[] = [
  {
    name: 'no kysely execution',
    files: 'src/**/*.ts',
    forbidden: /\.(execute|executeTakeFirst|executeTakeFirstOrThrow|stream)\(\s*\)/,
    why: 'queries run through a transaction; execute() would run outside of it',
  },
  {
    name: 'no write outside the unit of work',
    files: 'src/**/*.ts',
    except: /^src\/(database|app)\//,
    forbidden: /\bnew BetterSqlite3\((?!':memory:')|\.prepare\(['"`]\s*(INSERT|UPDATE|DELETE)/,
    why: 'there is one writer',
  },
  {
    name: 'no statement besides',
    files: 'src/**/*.ts',
    // It asks an empty database for the version of SQLite.
    except: /^src\/(database\/|cli\/version\.ts$)/,
    forbidden: /\.prepare\(/,
    why: 'statements are made by statement, change and built, so that a test finds and prepares them',
  },
  {
    name: 'the clock comes in',
    files: 'src/**/*.ts',
    // In the browser there is no clock but its own.
    except: /^src\/(platform|cli|console\/page)\//,
    forbidden: /\bDate\.now\(\)|\bnew Date\(\)/,
    why: 'time is a capability; take a Clock',
  },
  {
    name: 'chance comes in',
    files: 'src/**/*.ts',
    except: /^src\/platform\//,
    forbidden: /\bMath\.random\(\)|\brandomUUID\(|\brandomBytes\(/,
    why: 'chance is a capability; take RandomBytes',
  },
  {
    name: 'one way to the terminal',
    files: 'src/**/*.ts',
    except: /^src\/(platform\/terminal\.ts$|console\/page\/)/,
    // The question of `setup` and the progress of `ledger verify` take the stream as an argument.
    forbidden: /\bprocess\.(stdout|stderr)\.write\b|\bconsole\.(log|info|warn|error)\(|\bwriteSync\([12],/,
    why: 'names from outside could control the terminal: print and printError of platform/terminal.ts',
  },
  {
    name: 'one way to the network',
    files: 'src/**/*.ts',
    // The page asks the gateway from which it came. video/onvif/client.ts bounds the agents of a package in its own thread.
    // video-pipe.ts connects to itself, hub/store to the database of the head office, port-free.ts listens.
    except:
      /^src\/(platform\/network\/|console\/page\/|video\/onvif\/client\.ts$|video\/stream\/video-pipe\.ts$|hub\/store\/)/,
    forbidden:
      /from '(got|undici|pg|onvif|axios|node-fetch|node:(dgram|http2))'|import\('(got|undici|pg|onvif)'\)|\{[^}]*\b(connect|createConnection|request|get)\b[^}]*\} from 'node:(net|tls|https?)'|(?<![.#\w])fetch\(|\bnew (Web|Event)S(ocket|ource)\(|\bnew (Tls)?Socket\(/,
    why: 'an answer from outside has bounds: outsideRequest, wholeAnswer and dial of platform/network',
  },
  {
    name: 'a key comes from the ledger',
    files: 'src/**/*.ts',
    // Lines of one list are compared with each other alone.
    except: /^src\/(warehouse|imports)\//,
    forbidden: /(?<![.\w])readBarcode\([^()]*\)\.key\b|\bkey\b[^=]*= readBarcode\(/,
    why: 'the ledger may know a thing by an older key; ask AssetService.readBarcode(tx, raw)',
  },
  {
    name: 'people are compared by identity',
    files: 'src/**/*.{ts,tsx}',
    // auth/config-names.ts owns the comparison. devices knows the names of this site alone; the others search for rows by name.
    except: /^src\/(auth|config|devices|log\/people\.ts$|governance\/erasure\.ts$)/,
    forbidden:
      /\.(username|owner)\s*[!=]==(?!\s*(null\b|''))|[!=]==\s*[\w$.?]*\.(username|owner)\b|\b(groups|viewers)\)?\??\.(includes|some|find|indexOf|has)\(|\b(includes|has|indexOf)\([^)]*\.(username|owner)\b/,
    // A client may send the caller's own name as `operator`. A local account is found by name.
    allowed: /\boperator [!=]== by\??\.caller|auth\.users\.find\(\(u\) => u\.username === username\)/,
    why: 'names are one person only together with their instance: ask ConfigNames, or compare identityOf',
  },
  {
    name: 'a name says what it holds',
    files: '{src,scripts,test}/**/*.{ts,tsx}',
    forbidden: /(?<![\w'])#?told[A-Z]|[a-z]Told\b|\b(const|let|readonly) told\b/,
    why: 'name the rows, the counts or the shown note instead of told',
  },
  {
    name: 'no test left out',
    files: 'test/**/*.ts',
    forbidden: /\bt\.(only|todo)\(|\bskip: true\b/,
    why: 'a test that does not run guards nothing',
  },
  {
    name: 'no fixed sleep',
    files: 'test/**/*.test.ts',
    forbidden: /\bawait (pause|sleep|delay|real)\([\d_]{3,}\)/,
    excuse: { words: /Time is the subject/, above: 3 },
    why: 'wait for what is to happen (test/support/waiting.ts), or say above it that time is the subject',
  },
  {
    name: 'a cast says why',
    files: 'src/**/*.{ts,tsx}',
    except: /^src\/database\//,
    forbidden: /\bas (never|unknown as)\b/,
    excuse: { words: /^\s*([?:] )?(\/\/|\*\/|\/\*\*)/, above: 1 },
    why: 'the compiler no longer looks there: say in the line above what makes it right',
  },
]

/**
 * Throws with every line that breaks a rule, every function that is too long, and every expectation that always holds. Also
 * throws when a rule finds no file.
 */
export async function houseRules(): Promise<void> {
  const problems = [...lengthProblems(), ...emptyPatterns()]
  for (const rule of rules) {
    const files = globSync(rule.files).filter((file) => !rule.except?.test(file))
    if (files.length === 0) problems.push(`${rule.name}: no file to look at`)
    for (const file of files) {
      readFileSync(file, 'utf8')
        .split('\n')
        .forEach((line, i, lines) => {
          const above = lines.slice(Math.max(0, i - (rule.excuse?.above ?? 0)), i)
          const isExcused = above.some((one) => rule.excuse?.words.test(one))
          if (rule.forbidden.test(line) && !rule.allowed?.test(line) && !isExcused)
            problems.push(`${file}:${i + 1}: ${rule.name}: ${rule.why}`)
        })
    }
  }
  if (problems.length > 0) throw new Error(problems.join('\n'))
}
