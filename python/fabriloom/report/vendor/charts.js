// What the report draws with, and no more of it: each part left out saves the reader of a report some kilobytes.
export { init, use } from "echarts/core";
import { use } from "echarts/core";
import { CustomChart, LineChart, ScatterChart } from "echarts/charts";
import {
  AriaComponent,
  DataZoomInsideComponent,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
} from "echarts/components";
import { SVGRenderer } from "echarts/renderers";

use([
  LineChart, ScatterChart, CustomChart, GridComponent, TooltipComponent, LegendComponent, MarkLineComponent,
  DataZoomInsideComponent, AriaComponent, SVGRenderer,
]);
