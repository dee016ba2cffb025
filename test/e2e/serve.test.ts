import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Lab, root, startLab, whyNoLab } from '../lab/chainwalk.ts'
import { runCli } from './launch-shell.ts'
import { startServe, startServer } from './launch-window.ts'

const HTTP_SERVER = join(root, 'lab-scripts/manifests/http-server.yaml')
const runs = (name: string): boolean => runCli('status', '--name', name).code === 0

describe.skipIf(whyNoLab())('npm start, where there is no desktop', () => {
  test('says why in one line, applies the example and prints the link', async () => {
    const name = `start-${process.pid}`
    const folder = process.env['CHAINWALK_PROGRAM'] ?? root
    const { DISPLAY: _x, WAYLAND_DISPLAY: _wayland, ...env } = process.env
    const server = await startServer(
      [process.execPath, join(folder, 'lab-scripts/start.mjs'), '--name', name, '--port', '0', '--no-open'],
      { cwd: '/', env },
    )
    expect(server.said()).toMatch(
      /^No desktop window: (root has|there is) no [^\n]+\. The same window in a browser:\n/,
    )
    expect(runCli('get', 'svc', '--name', name).stdout).toMatch(/^http-svc-node-port /m)
    expect(await server.stop()).toBe(0)
    expect(runs(name)).toBe(false)
  })
})

describe.skipIf(whyNoLab())('chainwalk serve', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'ends the lab that it started at %s',
    async (signal) => {
      const name = `serve-${process.pid}-${signal.toLowerCase()}`
      const server = await startServe(['--name', name, '--workers', '1'])
      expect(runs(name)).toBe(true)
      server.process.kill(signal)
      expect(await server.ended).toBe(0)
      expect(server.said()).toContain(`lab "${name}" has ended`)
      expect(runs(name)).toBe(false)
    },
  )

  test('leaves nothing when it is killed', async () => {
    const name = `serve-${process.pid}-killed`
    const server = await startServe(['--name', name, '--workers', '1'])
    server.process.kill('SIGKILL')
    await server.ended
    await expect.poll(() => runs(name)).toBe(false)
  })

  test('ends with the lab, when that is ended from elsewhere', async () => {
    const name = `serve-${process.pid}-down`
    const server = await startServe(['--name', name, '--workers', '1'])
    expect(runCli('down', '--name', name).code).toBe(0)
    expect(await server.ended).toBe(0)
  })

  test('says where a manifest is wrong, and leaves no lab', () => {
    const name = `serve-${process.pid}-wrong`
    const { code, stderr } = runCli('serve', '--no-open', '--name', name, '-f', 'no-such-file.yaml')
    expect(stderr).toContain('no-such-file.yaml: no such file')
    expect(code).toBe(2)
    expect(runs(name)).toBe(false)
  })

  test.each(['x', '70000', '-1', '80.5'])('--port %s is wrong usage', (port) => {
    const { code, stderr } = runCli('serve', '--no-open', `--port=${port}`)
    expect(stderr).toContain(`--port ${port}`)
    expect(code).toBe(2)
  })

  describe('on a lab that is running', () => {
    let lab: Lab
    beforeAll(async () => {
      lab = await startLab()
    })
    afterAll(() => lab?.down())

    test('joins it, applies to it, and leaves it running', async () => {
      const server = await startServe(['--name', lab.name, '-f', HTTP_SERVER])
      expect((await lab.run('get', 'svc')).stdout).toMatch(/^http-svc /m)
      expect(await server.stop()).toBe(0)
      expect(server.said()).toContain('the lab goes on')
      expect(runs(lab.name)).toBe(true)
    })

    test('prints the link alone on stdout', async () => {
      const server = await startServe(['--name', lab.name])
      expect(server.link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}$/)
      expect(server.said()).not.toContain(server.token)
      await server.stop()
    })

    test('with --demo-traffic the counters of the Services move', async () => {
      const server = await startServe(['--name', lab.name, '-f', HTTP_SERVER, '--demo-traffic'])
      const packets = async (): Promise<number> => {
        const { stdout } = await lab.run(
          'counters',
          'node/worker1',
          '-t',
          'nat',
          'KUBE-SERVICES',
          '-o',
          'json',
        )
        return [...stdout.matchAll(/"packets": "?(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0)
      }
      await expect.poll(packets, { timeout: 15_000, interval: 500 }).toBeGreaterThan(2)
      await server.stop()
    })

    test('a port in use is said, and what to do', async () => {
      const other = createServer()
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
      const { port } = other.address() as { port: number }
      const { code, stderr } = runCli('serve', '--no-open', '--name', lab.name, '--port', String(port))
      expect(stderr).toContain(`port ${port} is in use; choose another --port`)
      expect(code).toBe(1)
      await new Promise((resolve) => other.close(resolve))
      expect(runs(lab.name)).toBe(true)
    })
  })
})
