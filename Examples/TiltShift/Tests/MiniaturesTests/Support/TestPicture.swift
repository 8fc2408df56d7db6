import Foundation

/// Test pictures as uncompressed TIFF files, which need no other code to encode them.
struct TestPicture {
    enum Colours {
        case grey, rgb, rgba, cmyk

        var count: Int { self == .grey ? 1 : self == .rgb ? 3 : 4 }
        /// The PhotometricInterpretation of TIFF.
        var code: Int { self == .grey ? 1 : self == .cmyk ? 5 : 2 }
    }

    var width = 160
    var height = 100
    var colours = Colours.rgb
    /// The Exif orientation: 1 is upright, 6 has to be rotated to the right.
    var orientation = 1
    var profile: Data?

    /// Returns a picture of coloured squares of two pixels, in which blur and colours can be measured.
    static func tiff(width: Int = 160, height: Int = 100) -> Data { TestPicture(width: width, height: height).tiff }

    /// Returns a picture of incompressible noise.
    static func noise(width: Int, height: Int) -> Data {
        var state: UInt64 = 1
        let pixels = (0..<width * height * 3).map { _ -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(state >> 56)
        }
        return TestPicture(width: width, height: height).tiff(of: Data(pixels))
    }

    /// Returns a picture whose head claims these dimensions, but that has no pixels.
    static func promise(width: Int, height: Int) -> Data { TestPicture(width: width, height: height).tiff(of: Data()) }

    var tiff: Data {
        let dark: [UInt8] = [60, 30, 20, 255]
        let light: [UInt8] = [120, 200, 90, 255]
        var pixels = Data(capacity: width * height * colours.count)
        for row in 0..<height {
            for column in 0..<width {
                pixels += ((row / 2 + column / 2).isMultiple(of: 2) ? dark : light).prefix(colours.count)
            }
        }
        return tiff(of: pixels)
    }

    func tiff(of pixels: Data) -> Data {
        let sizes = Data((0..<colours.count).flatMap { _ in [8, 0] as [UInt8] })
        let sizesStart = 8
        let pixelStart = sizesStart + sizes.count
        let profileStart = pixelStart + pixels.count + pixels.count % 2
        let padded = (profile ?? Data()) + Data(count: (profile?.count ?? 0) % 2)

        var entries: [(tag: Int, kind: Int, count: Int, value: Int)] = [
            (256, 4, 1, width), (257, 4, 1, height),
            (258, 3, colours.count, colours == .grey ? 8 : sizesStart),
            (259, 3, 1, 1), (262, 3, 1, colours.code), (273, 4, 1, pixelStart), (274, 3, 1, orientation),
            (277, 3, 1, colours.count), (278, 4, 1, height), (279, 4, 1, width * height * colours.count),
        ]
        if colours == .rgba { entries.append((338, 3, 1, 2)) }
        if let profile { entries.append((34675, 7, profile.count, profileStart)) }

        var file = Data("II".utf8) + little(42, 2) + little(profileStart + padded.count, 4) + sizes
        file += pixels + Data(count: pixels.count % 2) + padded
        file += little(entries.count, 2)
        for entry in entries {
            file += little(entry.tag, 2) + little(entry.kind, 2) + little(entry.count, 4) + little(entry.value, 4)
        }
        return file + little(0, 4)
    }

    private func little(_ value: Int, _ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
    }
}
