type WorkerFile = { readonly script: string }
type WorkerFiles = WorkerFile & { readonly runtime: string }
/** The build puts in the addresses of the workers, and of the WebAssembly that some run. */
declare const gatehouseWorkers: Readonly<Record<'objects' | 'codes', WorkerFiles>> & { readonly tiles: WorkerFile }

type Policies = {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string }
}
/** The service worker of messages about alerts. */
export const alertWorker = '/alert-worker.js'

const rules = {
  createScriptURL: (url: string) => {
    if (url === alertWorker || Object.values(gatehouseWorkers).some(({ script }) => script === url)) return url
    throw new TypeError('no worker of this page')
  },
}
let policy: { createScriptURL(url: string): string } | undefined

/** Returns the address of a worker as the browser demands it. The page's policy makes the addresses of its workers, and no other. */
export function workerAddress(url: string): string {
  const { trustedTypes } = window as { readonly trustedTypes?: Policies }
  policy ??= trustedTypes?.createPolicy('own-workers', rules) ?? rules
  return policy.createScriptURL(url)
}

/** Starts a worker of this page. */
export const startWorker = (name: keyof typeof gatehouseWorkers): Worker =>
  new Worker(workerAddress(gatehouseWorkers[name].script))

/** Fetches the WebAssembly of a worker, which may not fetch anything itself. Rejects when it does not come. */
export const fetchRuntime = (name: 'objects' | 'codes'): Promise<ArrayBuffer> =>
  fetchBytes(gatehouseWorkers[name].runtime)

/** Fetches a file of the gateway. Rejects when it does not come. */
export async function fetchBytes(path: string): Promise<ArrayBuffer> {
  const answer = await fetch(path)
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`)
  return answer.arrayBuffer()
}
