// node --import ./test/electron-shim/register.mjs out/main/electron.cjs
// lets `require('electron')` mean the stand-in beside this file.
import Module from 'node:module'
import * as standIn from './electron.mjs'

const load = Module._load
Module._load = (name, ...more) => (name === 'electron' ? standIn : load(name, ...more))
