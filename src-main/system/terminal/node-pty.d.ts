// @lydell/node-pty declares its types under its own name; package.json installs it as 'node-pty'.
declare module 'node-pty' {
  export * from '@lydell/node-pty'
}
