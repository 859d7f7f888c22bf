/// The classes of the plots: all that a style sheet can say about them, in one place. A plot has neither a style nor a colour of
/// its own but `currentColor`, so that it is readable without a style sheet, in the light and in the dark.
package enum PlotClass: String, CaseIterable, Sendable {
    /// The `svg` element of each plot. Its `font-size` belongs to the layout: a style sheet leaves it as it is.
    case plot
    /// The `svg` element in the narrow layout, beside `plot`.
    case narrow = "plot-narrow"
    /// The `svg` element in the wide layout, beside `plot`.
    case wide = "plot-wide"
    /// The `svg` element of a sparkline, beside `plot`.
    case spark = "plot-spark"

    /// Lines of the value axis, behind everything.
    case grid = "plot-grid"
    /// Lines of the time axis.
    case tick = "plot-tick"
    /// The line on which bars stand, and below which the time axis is.
    case base = "plot-base"
    /// Texts of both axes and of rows.
    case label = "plot-label"
    /// The unit above the value axis, and notes such as that times are not known.
    case note = "plot-note"
    /// What is stressed: a value at its bar, the extremes of a line, a row's total.
    case value = "plot-value"
    /// The line at the present moment.
    case now = "plot-now"
    /// Times without values.
    case gap = "plot-gap"

    /// The limits of alerts.
    case limit = "plot-limit"
    /// Their texts.
    case limitLabel = "plot-limit-label"
    /// From the lowest to the highest values around a line.
    case band = "plot-band"
    /// The line of means.
    case line = "plot-line"
    /// Values alone between gaps.
    case dots = "plot-dots"
    /// The newest value.
    case newest = "plot-newest"
    /// The highest and the lowest value.
    case extreme = "plot-extreme"
    /// Triangles on the time axis where values were corrected.
    case correction = "plot-correction"

    /// Bars of complete hours, days or months.
    case bar = "plot-bar"
    /// The bar of the hour, the day or the month that still runs.
    case partialBar = "plot-bar-partial"
    /// From diastolic to systolic pressure, of means.
    case range = "plot-range"
    /// From the lowest diastolic to the highest systolic pressure.
    case whisker = "plot-whisker"

    /// The line that joins the stages of a night.
    case steps = "plot-steps"
    case deep = "plot-stage-deep"
    case light = "plot-stage-light"
    case rem = "plot-stage-rem"
    case awake = "plot-stage-awake"
    /// Asleep at an unknown depth.
    case asleep = "plot-stage-asleep"
    /// In bed, where nothing says whether asleep.
    case inBed = "plot-stage-in-bed"
    /// A night of which only the totals are known.
    case untimed = "plot-stage-untimed"

    case zone1 = "plot-zone-1"
    case zone2 = "plot-zone-2"
    case zone3 = "plot-zone-3"
    case zone4 = "plot-zone-4"
    case zone5 = "plot-zone-5"
    /// Below the zones, or without a heart rate.
    case zoneless = "plot-zone-none"

    /// What it looks like without a style sheet, which has precedence over attributes.
    var looks: StaticString {
        switch self {
        case .plot, .narrow, .wide, .spark, .label, .value: ""
        case .grid: "stroke=\"currentColor\" stroke-opacity=\".15\""
        case .tick: "stroke=\"currentColor\" stroke-opacity=\".1\""
        case .base: "stroke=\"currentColor\" stroke-opacity=\".5\""
        case .note: "fill-opacity=\".75\""
        case .now: "stroke=\"currentColor\" stroke-dasharray=\"1 3\""
        case .gap: "fill-opacity=\".06\""
        case .limit: "stroke=\"currentColor\" stroke-dasharray=\"6 4\" stroke-opacity=\".7\""
        case .limitLabel: ""
        case .band: "fill-opacity=\".28\""
        case .line: "fill=\"none\" stroke=\"currentColor\" stroke-linejoin=\"round\" stroke-linecap=\"round\""
        case .dots: "fill=\"none\" stroke=\"currentColor\" stroke-linecap=\"round\""
        case .newest, .extreme, .correction: ""
        case .bar: "fill-opacity=\".7\""
        case .partialBar: "fill-opacity=\".25\" stroke=\"currentColor\" stroke-dasharray=\"3 2\""
        case .range: "fill=\"none\" stroke=\"currentColor\" stroke-linecap=\"round\""
        case .whisker: "fill=\"none\" stroke=\"currentColor\" stroke-opacity=\".45\""
        case .steps: "fill=\"none\" stroke=\"currentColor\" stroke-opacity=\".35\""
        case .deep, .zone5: "fill-opacity=\".95\""
        case .light, .zone3: "fill-opacity=\".55\""
        case .rem, .zone4: "fill-opacity=\".75\""
        case .awake, .zone1: "fill-opacity=\".25\""
        case .asleep, .zone2: "fill-opacity=\".4\""
        case .inBed, .untimed: "fill-opacity=\".08\" stroke=\"currentColor\" stroke-dasharray=\"4 3\""
        case .zoneless: "fill-opacity=\".12\""
        }
    }
}

/// The attributes of a plot's `svg` element that a script reads to show the value under the pointer.
///
/// Lists have their items separated by spaces, and the members of an item by commas. Times are whole minutes from `data-from`.
package enum PlotData: String, CaseIterable, Sendable {
    /// `line`, `bars`, `ranges`, `night` or `zones`.
    case plot = "data-plot"
    /// The first moment and the one after the last, in seconds since 1970 UTC.
    case from = "data-from"
    case to = "data-to"
    /// Seconds by which local time is ahead of UTC: items `seconds,from`, `from` in minutes, 0 for the first.
    case offsets = "data-offsets"
    /// `day`, `week`, `month` or `year`: how exact the time of a reading is.
    case period = "data-period"
    /// The plot area in units of the `viewBox`: left, right, top, bottom.
    case area = "data-area"
    /// The values at the bottom and at the top of the plot area.
    case values = "data-values"
    /// The unit, if there is one.
    case unit = "data-unit"
    /// Items `time,mean` of a line, or `time,mean,lowest,highest` if they differ.
    case points = "data-points"
    /// The minutes beyond which a line has a gap: further from a point there is no reading.
    case bridge = "data-bridge"
    /// Items `from,to,total`, with a fourth member `partial` if it still runs. The total is empty without data.
    case bars = "data-bars"
    /// Items `time,systolic,diastolic`, or of several `time,systolic,diastolic,highest systolic,lowest diastolic`.
    case ranges = "data-ranges"
    /// Items `from,to,stage`, a stage as in the contract.
    case stages = "data-stages"
}
