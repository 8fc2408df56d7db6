// A mountain lake in the morning: a village with its church on a headland, forests, and snow on the summits.

#version 3.7;
#include "Scenery.inc"

View(<70, 215, -230>, <-100, 90, 480>, 46)
Daylight(<0.80, 0.62, -0.30>, 0.6)
fog { fog_type 1 distance 7500 color srgb <0.74, 0.82, 0.91> }

#declare S = seed(2962);

// ----------------------------------------------------------------------------------------------------- The land
//
// There is a headland with the village, a small island, and a wooded point on the near right shore.
// Shore is the distance from the shore of the lake, about in metres and negative on the water; the land rises with it.

#declare Headland = function(X, Z) { exp(-pow((X + 215) / 150, 2) - pow((Z - 500) / 190, 2)) }
#declare Shore = function(X, Z) {
    (sqrt(pow((X - 40 - 60 * sin(Z / 330)) / 330, 2) + pow((Z - 1080) / 1020, 2)) - 1) * 330
    + (f_noise3d(X / 130, 0, Z / 130) - 0.5) * 70 + (f_noise3d(X / 37, 4, Z / 37) - 0.5) * 14
    + 90 * Headland(X, Z)
    + 200 * exp(-pow((X - 105) / 62, 2) - pow((Z - 640) / 80, 2))
    + 150 * exp(-pow((X - 200) / 90, 2) - pow((Z - 250) / 100, 2))
}
#declare Ridge = function(X, Z) { f_ridged_mf(X / 760 + 0.3, 0.7, Z / 760 + 1.4, 0.95, 2.1, 7, 0.85, 2.2, 2) }
#declare Mountains = function(X, Z, D) {
    min(D, 12) * 0.20 + max(0, D - 12) * 0.30 * (1 - 0.93 * Headland(X, Z))
    + 330 * Ridge(X, Z) * pow(min(1, max(0, (D - 20) / 750)), 1.25) * (1 + max(0, Z - 1700) / 2600)
    + (f_noise3d(X / 60, 9, Z / 60) - 0.4) * 12 * min(1, max(0, (D - 10) / 80)) * (1 - 0.8 * Headland(X, Z))
}
#declare Ground = function(X, Z) { select(Shore(X, Z), max(-12, Shore(X, Z) * 0.3), Mountains(X, Z, Shore(X, Z))) }
#macro On_Ground(X, Z) <X, Ground(X, Z), Z> #end

#declare Rock = pigment {
    granite turbulence 0.3 scale 60 color_map { [0 srgb <0.38, 0.37, 0.37>] [0.5 srgb <0.52, 0.50, 0.48>] [1 srgb <0.64, 0.62, 0.60>] }
}
#declare Snow = pigment { bozo scale 30 color_map { [0.2 srgb <0.86, 0.89, 0.93>] [0.8 srgb <0.96, 0.97, 0.98>] } }
#declare Pasture = pigment {
    bozo turbulence 0.7 scale 24
    color_map { [0.25 srgb <0.36, 0.43, 0.23>] [0.6 srgb <0.46, 0.51, 0.29>] [0.8 srgb <0.54, 0.55, 0.35>] }
}
#declare Wood_Floor = pigment { bozo turbulence 0.8 scale 12 color_map { [0.3 srgb <0.20, 0.29, 0.18>] [0.8 srgb <0.30, 0.37, 0.22>] } }
#declare Alp = pigment { bozo turbulence 0.8 scale 40 color_map { [0.3 srgb <0.44, 0.47, 0.30>] [0.8 srgb <0.54, 0.52, 0.40>] } }
#declare Beach = pigment { granite scale 3 color_map { [0 srgb <0.56, 0.53, 0.46>] [1 srgb <0.72, 0.69, 0.62>] } }
#declare Road = pigment { color srgb <0.62, 0.61, 0.58> }

#declare Wooded = function(X, Z) { f_noise3d(X / 140, 31, Z / 140) * 0.7 + f_noise3d(X / 40, 37, Z / 40) * 0.3 + min(0.12, max(0, Shore(X, Z) - 60) / 2000) - 0.6 * Headland(X, Z) }
#declare Low_Land = pigment {
    function { select(Shore(x, z) - 5 * f_noise3d(x / 20, 5, z / 20), 0.1, select(select(x, 3, -1) * select(z - 1000, 1, 0) - abs(Shore(x, z) - 17 - 20 * Headland(x, z)), select(Wooded(x, z) - 0.5, 0.5, 0.7), 0.9)) }
    pigment_map { [0.3 Beach] [0.3 Pasture] [0.6 Pasture] [0.6 Wood_Floor] [0.8 Wood_Floor] [0.8 Road] }
}
#declare Not_Steep = pigment {
    function { min(1, max(0, (y - 190 + 90 * (f_noise3d(x / 70, y / 70, z / 70) - 0.5)) / 60)) }
    pigment_map { [0.2 Low_Land] [0.8 Alp] }
}
#declare Bare = pigment { slope y pigment_map { [0.74 Rock] [0.79 Not_Steep] } }
#declare Snowy = pigment { slope y pigment_map { [0.66 Rock] [0.71 Snow] } }

height_field {
    function 1600, 1600 { (Ground(-1900 + 4000 * x, -400 + 4000 * (1 - y)) + 20) / 1500 }
    smooth
    scale <4000, 1500, 4000> translate <-1900, -20, -400>
    texture {
        pigment {
            function { min(1, max(0, (y - 290 + 200 * (f_noise3d(x / 120, y / 60, z / 120) - 0.5) + 90 * (f_noise3d(x / 27, y / 20, z / 27) - 0.5)) / 60)) }
            pigment_map { [0.3 Bare] [0.7 Snowy] }
        }
        normal { granite 0.35 scale 30 }
    }
}
plane { y, 0 Water(Rgb(0.12, 0.33, 0.38), 3.0, 0.05) }

// --------------------------------------------------------------------------------------------------- The village

#declare Chalet_Walls = array[7] {
    <0.92, 0.90, 0.84>, <0.90, 0.86, 0.76>, <0.55, 0.40, 0.29>, <0.47, 0.34, 0.25>, <0.88, 0.80, 0.64>, <0.62, 0.46, 0.33>,
    <0.93, 0.92, 0.88>
}
#declare Most = 150;
#declare Place = array[Most + 1];
#declare Place[0] = <-196, 0, 470>;     // The church.
#declare Count = 1;
#declare Tries = 0;
#while (Count <= Most & Tries < 9000)
    #local X = Between(-420, -40, S);
    #local Z = Between(280, 760, S);
    #local D = Shore(X, Z);
    #local Fits = (D > 8 & abs(D - 17 - 20 * Headland(X, Z)) > 10 & Headland(X, Z) > 0.16 & Ground(X, Z) < 40);
    #for (I, 0, Count - 1)
        #if (vlength(<X, 0, Z> - Place[I]) < 15.5 + 9 * (I = 0)) #local Fits = 0; #end
    #end
    #if (Fits)
        #declare Place[Count] = <X, 0, Z>;
        #declare Count = Count + 1;
        #local Turn = 20 * sin(X / 60) + 90 * Chance(0.35, S) + Between(-6, 6, S);
        #local W = Between(9, 13, S); #local H = Between(8, 10, S);
        union {
            object {
                House(W, H, 2 + Chance(0.35, S), Between(28, 42, S), Varied(Pick_Colour(Chalet_Walls, S), 0.12, S), Varied(Pick_Colour(Roof_Colours, S), 0.25, S), 1, 0, 1, 0, 1, S)
            }
            box { <-W / 2 - 0.05, -6, -0.05>, <W / 2 + 0.05, 0.5, H + 0.05> texture { Stone_Grey } }
            rotate y * Turn translate On_Ground(X, Z) + y * 0.6
        }
        #if (Chance(0.75, S))
            #local P = <X, 0, Z> + vrotate(x * Between(8.5, 10.5, S), y * 360 * rand(S));
            #if (Shore(P.x, P.z) > 4) object { LeafTree(Between(4, 8, S), S) translate On_Ground(P.x, P.z) } #end
        #end
        #if (Chance(0.4, S)) object { Car(S) rotate y * Turn translate On_Ground(X, Z) + vrotate(<3, 0.3, -4>, y * Turn) } #end
    #end
    #declare Tries = Tries + 1;
#end

union {
    object { House(24, 12, 3, 48, Rgb(0.93, 0.92, 0.87), Rgb(0.50, 0.38, 0.34), 1, 0, 0, 0, 0, S) translate <12, 0, -6> }
    object { Spire(3.2, 24, 17) }
    box { <-4, -6, -7>, <25, 0.3, 7> texture { Stone_Grey } }
    rotate y * 25 translate On_Ground(Place[0].x, Place[0].z) + y * 0.6
}

// The chapel on the island.
union {
    object { House(11, 7, 1, 46, Rgb(0.93, 0.92, 0.87), Rgb(0.52, 0.38, 0.33), 1, 1, 0, 0, 0, S) }
    object { Spire(1.4, 9, 6) translate <-6, 0, 3.5> }
    box { <-7.5, -5, -0.1>, <5.6, 0.2, 7.1> texture { Stone_Grey } }
    rotate y * 15 translate On_Ground(104, 636) + y * 0.4
}

// The point at a distance D from the lake on the left shore, at a given z.
#macro Left_Shore(Z, D)
    #local X = 40;
    #while (X > -500 & Shore(X, Z) - 20 * Headland(X, Z) * (D > 5) < D) #local X = X - 0.5; #end
    <X, max(0, Ground(X, Z)), Z>
#end
#for (Z, 130, 980, 24)
    #local P = Left_Shore(Z, 17); #local Q = Left_Shore(Z + 2, 17);
    #local A = degrees(atan2(-(Q.z - P.z), Q.x - P.x));
    #if (Chance(0.6, S)) object { Car(S) rotate y * (A + 180 * Chance(0.5, S)) translate P + y * 0.1 } #end
#end

// ------------------------------------------------------------------------------------------------------- Forests

#macro Clear_Of_Houses(X, Z)
    #local Clear = 1;
    #if (Headland(X, Z) > 0.1)
        #for (I, 0, Count - 1) #if (vlength(<X, 0, Z> - Place[I]) < 11 + 14 * (I = 0)) #local Clear = 0; #end #end
    #end
    (Clear)
#end
#for (I, 1, 60000)
    #local Z = -160 + 2300 * pow(rand(S), 1.7);
    #local X = 60 + Between(-1, 1, S) * (140 + (Z + 200) * 0.56);
    #local D = Shore(X, Z);
    #if (D > 7)
        #local Y = Ground(X, Z);
        #local Wood = Wooded(X, Z);
        #local Steep = abs(Ground(X + 4, Z) - Y) + abs(Ground(X, Z + 4) - Y);
        #if (Y < 205 + 90 * (rand(S) - 0.5) & Steep < 7.5 & abs(D - 17 - 20 * Headland(X, Z)) > 5 & (Wood > 0.5 | Chance(0.05, S)) & vlength(<X, 0, Z> - <104, 0, 638>) > 12)
            #if (Clear_Of_Houses(X, Z))
                #if (Chance(0.22 + 0.5 * (D < 40), S))
                    object { LeafTree(Between(6, 11, S), S) translate <X, Y - 0.3, Z> }
                #else
                    object { FirTree(Between(9, 19, S), S) translate <X, Y - 0.4, Z> }
                #end
            #end
        #end
    #end
#end

// ------------------------------------------------------------------------------------------------- On the water

// A white passenger steamer.
#macro Steamer()
    union {
        object { Hull(42, 8, 2.2) Gloss(Rgb(0.93, 0.93, 0.90)) }
        object { Hull(42, 8, 0.4) Gloss(Rgb(0.20, 0.30, 0.42)) scale <1.003, 1, 1.01> }
        object { Deck(42, 8, 2.2) texture { Teak } }
        box { <-17, 2, -3.2>, <10, 4.6, 3.2> texture { White_Paint } }
        box { <-16.5, 3, -3.25>, <9.5, 4.0, 3.25> texture { Glass_Panes[0] } }
        box { <-18, 4.6, -3.7>, <11, 4.8, 3.7> texture { Teak } }
        box { <-9, 4.8, -2.4>, <8, 7.0, 2.4> texture { White_Paint } }
        box { <-8.6, 5.6, -2.45>, <8.1, 6.5, 2.45> texture { Glass_Panes[1] } }
        box { <-17.5, 7.0, -2.9>, <9, 7.15, 2.9> texture { White_Paint } }
        cylinder { <-2, 7, 0>, <-2.6, 11.5, 0>, 1.0 Gloss(Rgb(0.72, 0.20, 0.15)) }
        cylinder { <-2.5, 10.8, 0>, <-2.65, 11.9, 0>, 1.02 texture { Tyre } }
        cylinder { <13, 2, 0>, <13, 13, 0>, 0.15 texture { White_Paint } }
        cylinder { <-19, 2, 0>, <-20, 7, 0>, 0.08 texture { White_Paint } }
    }
#end

object { Steamer() rotate y * 128 translate <10, 0, 440> }
#for (K, 1, 16)
    #local Z = Between(180, 1100, S);
    #local X = Between(-60, 260, S);
    #if (Shore(X, Z) < -30 & vlength(<X - 10, 0, Z - 440>) > 60) object { Sailing(Between(9, 13, S), S) rotate y * Between(20, 80, S) translate <X, 0, Z> } #end
#end
#for (Z, 400, 620, 22)
    #local P = Left_Shore(Z, -1);
    box { <-4, 0.7, -1>, <20, 1.0, 1> texture { Teak } translate P * <1, 0, 1> }
    #for (K, 0, 2) object { Rowing_Boat(S) rotate y * (90 + Between(-9, 9, S)) translate P * <1, 0, 1> + <7 + K * 4.5, 0, 3.6> } #end
    object { Motor_Boat(7, S) rotate y * -90 translate P * <1, 0, 1> + <15, 0, -5> }
#end
