// What drawings of large fabrics need of WebGL, and no more of it.
export {
  createBufferInfoFromArrays, createProgramInfo, drawBufferInfo, resizeCanvasToDisplaySize, setAttribInfoBufferFromArray,
  setBuffersAndAttributes, setUniforms,
} from "twgl.js";
