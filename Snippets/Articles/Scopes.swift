import Baton

let library = OperationScope("image library")
let thumbnails = AsyncOperationQueue(name: "thumbnails")
let exports = AsyncOperationQueue(name: "exports")
thumbnails.scope = library
exports.scope = library

let small = AsyncOperation { "small" }.addCondition(.mutuallyExclusive("cache"))  // one of the two queues at a time
let large = AsyncOperation { "large" }
    .addCondition(.mutuallyExclusive("cache"))
    .addCondition(.limited("gpu", to: 1, within: .process))  // this one with everybody else's
print(try await thumbnails.run(small), try await exports.run(large))  // small large
